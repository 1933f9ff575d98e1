import Foundation
import MWDATCamera
import MWDATCore
import Synchronization
import TestSupport
import Units

/// Watches the test pattern's flash and listens for its beep, which begin together with each of its full seconds.
///
/// Both are watched only while a window is open, since each picture has to be decoded for it. Sound is listened to all the
/// time, so that every frame passes what brings it into step.
final class FlashAndBeep: Sendable {
  private struct State {
    var detector: BeepDetector?
    var flashes: [Double] = []
    var wasLit = false
    var frames = 0
    var samples = 0
    var lastEnd: Double?
    var holes: [(at: Double, length: Double)] = []
  }

  /// A pair in step is at most this far apart to count as one: half the period.
  private static let halfPeriod = 0.5

  private let stream: MWDATCamera.Stream
  private let tokens = ListenerTokenBag()
  private let videoToken = Mutex<(any AnyListenerToken)?>(nil)
  private let state = Mutex(State())

  init(_ stream: MWDATCamera.Stream) {
    self.stream = stream
    stream.audioFramePublisher.listen { [weak self] in self?.hear($0) }.store(in: tokens)
  }

  /// Samples of one channel that came, in all.
  var samples: Int { state.withLock { $0.samples } }

  /// Where a frame's stamp was more than half a sample off the end of the frame before it.
  var holes: [(at: Double, length: Double)] { state.withLock { $0.holes } }

  /// Begins a window. What was found in the one before is forgotten.
  func open() {
    state.withLock { state in
      state.detector = nil
      state.flashes = []
      state.wasLit = true
    }
    state.withLock { $0.detector = BeepDetector(level: 0.25, sampleRate: 16_000) }
    let token = stream.videoFramePublisher.listen { [weak self] in self?.see($0) }
    videoToken.withLock { $0 = token }
  }

  /// Ends the window.
  ///
  /// - Returns: for each flash the seconds from it to the beep that goes with it; what has no partner is left out.
  func close() async -> [Double] {
    let token = videoToken.withLock { $0.take() }
    await token?.cancel()
    return state.withLock { state in
      let beeps = state.detector?.onsets ?? []
      state.detector = nil
      return state.flashes.compactMap { flash in
        beeps.map { $0 - flash }.min { abs($0) < abs($1) }.flatMap { abs($0) < Self.halfPeriod ? $0 : nil }
      }
    }
  }

  func end() async { await tokens.cancelAll() }

  private func hear(_ frame: AudioFrame) {
    guard let channels = frame.pcmBuffer.floatChannelData else { return }
    let count = Int(frame.pcmBuffer.frameLength)
    let samples = UnsafeBufferPointer(start: channels[0], count: count)
    let time = CMTimeGetSeconds(frame.presentationTimeStamp)
    state.withLock { state in
      if let end = state.lastEnd, abs(time - end) > 0.5 / 16_000 { state.holes.append((end, time - end)) }
      state.lastEnd = time + Double(count) / frame.pcmBuffer.format.sampleRate
      state.samples += count
      state.frames += 1
      state.detector?.take(Array(samples), at: time)
    }
  }

  private func see(_ frame: VideoFrame) {
    guard let picture = CMSampleBufferGetImageBuffer(frame.sampleBuffer) else { return }
    let time = CMTimeGetSeconds(CMSampleBufferGetPresentationTimeStamp(frame.sampleBuffer))
    let isLit = Self.isLit(picture)
    state.withLock { state in
      if isLit, !state.wasLit { state.flashes.append(time) }
      state.wasLit = isLit
    }
  }

  /// Whether the middle of the pattern's light, 14.4 of the 18 units of the shorter side down, is bright.
  private static func isLit(_ picture: CVPixelBuffer) -> Bool {
    CVPixelBufferLockBaseAddress(picture, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(picture, .readOnly) }
    guard let base = CVPixelBufferGetBaseAddressOfPlane(picture, 0) else { return false }
    let unit = CVPixelBufferGetWidth(picture) / 18
    let row = base + 144 * unit / 10 * CVPixelBufferGetBytesPerRowOfPlane(picture, 0)
    return row.load(fromByteOffset: 3 * unit, as: UInt8.self) > 128
  }
}
