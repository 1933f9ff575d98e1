import Foundation
import Glasswing
import LinkProtocol
import MWDATCamera
import MWDATCore
import Synchronization
import TestSupport
import Testing
import Units

/// Watches the flashes of a stream's feed and listens for its beeps, which begin together once a second.
///
/// Both are looked for only while a window is open, since each picture has to be decoded for it. Sound is listened to all
/// the time, so that every frame passes what brings it into step.
final class FlashAndBeep: Sendable {
  /// The place in the picture that flashes.
  enum Light {
    /// The test pattern's: 14.4 of the 18 units of the shorter side down.
    case pattern
    case middle

    func isOn(_ picture: CVPixelBuffer) -> Bool {
      CVPixelBufferLockBaseAddress(picture, .readOnly)
      defer { CVPixelBufferUnlockBaseAddress(picture, .readOnly) }
      guard let base = CVPixelBufferGetBaseAddressOfPlane(picture, 0) else { return false }
      let (width, height) = (CVPixelBufferGetWidth(picture), CVPixelBufferGetHeight(picture))
      let place: (column: Int, row: Int) =
        switch self {
        case .pattern: (3 * (width / 18), 144 * (width / 18) / 10)
        case .middle: (width / 2, height / 2)
        }
      let row = base + place.row * CVPixelBufferGetBytesPerRowOfPlane(picture, 0)
      return row.load(fromByteOffset: place.column, as: UInt8.self) > 128
    }
  }

  private struct State {
    var detector: BeepDetector?
    /// For compressed frames; nil before the first sync picture of the window.
    var decoder: HEVCDecoder?
    var flashes: [Double] = []
    var wasOn = true
    var samples = 0
    var lastEnd: Double?
    var holes: [(at: Double, length: Double)] = []
  }

  private let stream: MWDATCamera.Stream
  private let light: Light
  private let tokens = ListenerTokenBag()
  private let videoToken = Mutex<(any AnyListenerToken)?>(nil)
  private let state = Mutex(State())

  init(_ stream: MWDATCamera.Stream, light: Light = .pattern) {
    self.stream = stream
    self.light = light
    stream.audioFramePublisher.listen { [weak self] in self?.hear($0) }.store(in: tokens)
  }

  /// Samples of one channel that came, in all.
  var samples: Int { state.withLock { $0.samples } }

  /// Where a frame's stamp was more than half a sample off the end of the frame before it.
  var holes: [(at: Double, length: Double)] { state.withLock { $0.holes } }

  /// Begins a window. What was found in the one before is forgotten.
  func open() throws {
    let decoder = stream.streamConfiguration.videoCodec == .hvc1 ? try HEVCDecoder() : nil
    state.withLock { state in
      state.detector = BeepDetector(level: 0.25, sampleRate: 16_000)
      state.decoder = decoder
      state.flashes = []
      state.wasOn = true
    }
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
      defer { state.detector = nil }
      return Self.distances(from: state.flashes, to: state.detector?.onsets ?? [])
    }
  }

  func end() async { await tokens.cancelAll() }

  /// For each flash the seconds from it to the nearest beep, as far as that is of the same second.
  static func distances(from flashes: [Double], to beeps: [Double]) -> [Double] {
    flashes.compactMap { flash in
      beeps.map { $0 - flash }.min { abs($0) < abs($1) }.flatMap { abs($0) < 0.5 ? $0 : nil }
    }
  }

  /// - Parameter distances: of a stretch of so many seconds; its first and last may miss theirs.
  static func expectInStep(_ distances: [Double], seconds: Int, _ when: String) {
    #expect(distances.count >= seconds - 2, "\(when): only \(distances.count) pairs in \(seconds) s")
    let worst = distances.map(abs).max() ?? .infinity
    #expect(worst <= 0.020, "\(when): \(worst * 1000) ms apart")
  }

  private func hear(_ frame: AudioFrame) {
    guard let channels = frame.pcmBuffer.floatChannelData else { return }
    let count = Int(frame.pcmBuffer.frameLength)
    let time = CMTimeGetSeconds(frame.presentationTimeStamp)
    state.withLock { state in
      if let end = state.lastEnd, abs(time - end) > 0.5 / 16_000 { state.holes.append((end, time - end)) }
      state.lastEnd = time + Double(count) / frame.pcmBuffer.format.sampleRate
      state.samples += count
      state.detector?.take(UnsafeBufferPointer(start: channels[0], count: count), at: time)
    }
  }

  private func see(_ frame: VideoFrame) {
    let time = CMTimeGetSeconds(CMSampleBufferGetPresentationTimeStamp(frame.sampleBuffer))
    state.withLock { state in
      // Without a picture, as the window began within a group of them: what it shows is not known.
      guard let picture = Self.picture(of: frame, state.decoder) else { return }
      let isOn = light.isOn(picture)
      if isOn, !state.wasOn { state.flashes.append(time) }
      state.wasOn = isOn
    }
  }

  private static func picture(of frame: VideoFrame, _ decoder: HEVCDecoder?) -> CVPixelBuffer? {
    if let picture = CMSampleBufferGetImageBuffer(frame.sampleBuffer) { return picture }
    return try? decoder?.decode(frame.sampleBuffer)
  }
}

extension FlashAndBeep {
  /// Opens a window of some seconds, in which flashes and beeps have to come together.
  func expectInStep(_ clock: ManualTimekeeper, seconds: Int = 8, _ when: String) async throws {
    try open()
    clock.advance(by: .seconds(seconds))
    Self.expectInStep(await close(), seconds: seconds, when)
  }
}
