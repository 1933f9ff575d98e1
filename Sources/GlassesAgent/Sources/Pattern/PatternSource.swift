import PortableMedia
import Synchronization
import Units

/// The built-in test pattern: a moving picture that carries its number, the source's clock and a checksum of both, as
/// digits for people and as blocks for `PatternReader`; a field flashes on each full second.
///
/// What a picture shows depends on its number, the frame rate and the size alone. Painting takes about 0.1 ms at
/// 504x896.
package final class PatternSource: VideoSource {
  package static let defaultFrameRate = 30.0
  /// The size of stills: full HD, upright.
  package static let stillSize = PixelSize(width: 1080, height: 1920)
  /// A light and, where there is sound, a beep begin with each full second of the source's clock…
  package static let flashPeriod: Duration = .seconds(1)
  /// … and last this long.
  package static let flashDuration: Duration = .milliseconds(Int64(PatternPainter.flashMilliseconds))

  package let nativeSize: PixelSize
  package let frameRate: Double
  private let plate: PatternPlate
  /// The number of the picture given last.
  private let last = Atomic<Int64>(0)

  /// - Parameter size: even, at least 64 a side; from 144 on the blocks survive strong compression.
  package init(size: PixelSize, frameRate: Double = PatternSource.defaultFrameRate) throws(SourceError) {
    nativeSize = size
    self.frameRate = frameRate.isFinite ? min(max(frameRate, 0.1), 240) : Self.defaultFrameRate
    plate = try PatternPlate(size: size)
  }

  package func nextPictureTime(from elapsed: Duration) -> Duration {
    let showing = index(at: elapsed)
    let begun = time(of: showing)
    return begun >= elapsed ? begun : time(of: showing + 1)
  }

  package func picture(at elapsed: Duration) throws(SourceError) -> SourcePicture {
    let index = index(at: elapsed)
    last.store(index, ordering: .relaxed)
    let buffer = try plate.picture(mark(of: index))
    return SourcePicture(buffer: buffer, index: index, time: time(of: index))
  }

  package func still() throws(SourceError) -> CVPixelBuffer {
    try PatternPlate(size: Self.stillSize).picture(mark(of: last.load(ordering: .relaxed)))
  }

  private func mark(of index: Int64) -> PatternMark {
    PatternMark(
      frameNumber: UInt32(truncatingIfNeeded: index),
      milliseconds: UInt32(truncatingIfNeeded: time(of: index).nanoseconds / 1_000_000))
  }

  /// Rounded up, so that a clock in whole nanoseconds that has reached it has reached the picture.
  private func time(of index: Int64) -> Duration {
    .nanoseconds(Int64((Double(index) * 1e9 / frameRate).rounded(.up)))
  }

  private func index(at elapsed: Duration) -> Int64 {
    var index = max(0, Int64(elapsed.seconds * frameRate))
    while index > 0, time(of: index) > elapsed { index -= 1 }
    while time(of: index + 1) <= elapsed { index += 1 }
    return index
  }
}
