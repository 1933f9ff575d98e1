import PortableMedia
import Synchronization
import Units

@testable import GlassesAgent

/// A source whose pictures come when a function says; each is flat grey with a luma of its own.
final class SteppedSource: VideoSource {
  let nativeSize: PixelSize
  let frameRate: Double
  private let cycle: Duration?
  private let time: @Sendable (Int64) -> Duration
  private let failsFrom: Int64
  private let last = Mutex<Int64>(0)

  init(
    size: PixelSize = PixelSize(width: 64, height: 96), frameRate: Double, cycle: Duration? = nil,
    failsFrom: Int64 = .max, time: (@Sendable (Int64) -> Duration)? = nil
  ) {
    nativeSize = size
    self.frameRate = frameRate
    self.cycle = cycle
    self.failsFrom = failsFrom
    self.time = time ?? { .nanoseconds(Int64((Double($0) * 1e9 / frameRate).rounded(.up))) }
  }

  func nextPictureTime(from elapsed: Duration) throws(SourceError) -> Duration {
    var index = last.withLock { $0 }
    while time(index) < elapsed { index += 1 }
    return time(index)
  }

  /// As `nextPictureTime(from:)` of a source without a function for it, and without regard to what was given.
  func evenTime(from elapsed: Duration) -> Duration {
    let interval: Duration = .seconds(1 / frameRate)
    return interval * Int((elapsed / interval).rounded(.up))
  }

  func picture(at elapsed: Duration) throws(SourceError) -> SourcePicture {
    let index = last.withLock { last in
      while time(last + 1) <= elapsed { last += 1 }
      return last
    }
    guard index < failsFrom else { throw .noPicture }
    let due = time(index)
    // The last multiple of the cycle.
    let round = cycle.map { $0 * Int(due / $0) } ?? .zero
    return SourcePicture(buffer: try buffer(index), index: index, time: due, roundBegan: round)
  }

  func still() throws(SourceError) -> CVPixelBuffer { try buffer(last.withLock { $0 }) }

  private func buffer(_ index: Int64) throws(SourceError) -> CVPixelBuffer {
    let format = kCVPixelFormatType_420YpCbCr8Planar
    guard let buffer = CVPixelBuffer(width: nativeSize.width, height: nativeSize.height, pixelFormat: format) else {
      throw .outOfMemory
    }
    for (plane, value) in [(0, UInt8(40 + index % 180)), (1, 128), (2, 128)] {
      guard let view = buffer.plane(plane) else { continue }
      view.base.initializeMemory(as: UInt8.self, repeating: value, count: view.bytesPerRow * view.height)
    }
    return buffer
  }
}
