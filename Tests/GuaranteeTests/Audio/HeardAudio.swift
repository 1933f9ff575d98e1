import Glasswing
import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import Synchronization
import TestSupport
import Testing
import Units

/// What one listener for sound has had, and in which state of the stream.
final class HeardAudio: Sendable {
  struct Frame: Sendable {
    /// Of the first sample.
    let start: Instant
    let count: Int
    let missing: Int
    let isDiscontinuity: Bool
    let isFilled: Bool
    /// True when all samples are 0.
    let isSilent: Bool
    let state: StreamState?
    let status: AudioStatus?
    let format: AVAudioFormat
  }

  private struct State {
    var frames: [Frame] = []
    /// Of each channel.
    var samples: [[Float]] = []
  }

  private let state = Mutex(State())
  private let keepsSamples: Bool
  private let token = Mutex<(any AnyListenerToken)?>(nil)

  /// - Parameter keepsSamples: else only frames' facts are kept.
  init(
    _ stream: MWDATCamera.Stream, continuous: Bool = false, keepsSamples: Bool = false,
    meanwhile: @escaping @Sendable (AudioFrame) -> Void = { _ in }
  ) {
    self.keepsSamples = keepsSamples
    let source = continuous ? stream.continuousAudioPublisher : stream.audioFramePublisher
    let listening = source.listen { [weak self, weak stream] frame in
      self?.take(frame, stream)
      meanwhile(frame)
    }
    token.withLock { $0 = listening }
  }

  var frames: [Frame] { state.withLock { $0.frames } }
  var samples: [[Float]] { state.withLock { $0.samples } }
  /// Of each channel, those included that frames said are missing.
  var total: Int { frames.reduce(0) { $0 + $1.count + $1.missing } }
  /// The end of the last frame.
  var end: Instant? { frames.last.map { $0.start + .seconds(1) * Double($0.count) / $0.format.sampleRate } }

  func cancel() async { await token.withLock { $0.take() }?.cancel() }

  private func take(_ frame: AudioFrame, _ stream: MWDATCamera.Stream?) {
    let buffer = frame.pcmBuffer
    let (count, channels) = (Int(buffer.frameLength), Int(buffer.format.channelCount))
    guard let data = buffer.floatChannelData else { return }
    let isSilent = (0..<channels).allSatisfy { channel in (0..<count).allSatisfy { data[channel][$0] == 0 } }
    let facts = Frame(
      start: Instant(nanoseconds: frame.presentationTimeStamp.value), count: count, missing: frame.missingSamples,
      isDiscontinuity: frame.isDiscontinuity, isFilled: frame.isFilled, isSilent: isSilent, state: stream?.state,
      status: stream?.audioStatus, format: buffer.format)
    state.withLock { state in
      state.frames.append(facts)
      guard keepsSamples else { return }
      if state.samples.isEmpty { state.samples = Array(repeating: [], count: channels) }
      for channel in 0..<channels {
        state.samples[channel] += UnsafeBufferPointer(start: data[channel], count: count)
      }
    }
  }

  /// What is wrong with frames: times that don't follow from lengths and what is missing, gaps without a mark.
  func faults() -> [String] {
    let frames = frames
    guard let first = frames.first else { return ["nothing was heard"] }
    let rate = first.format.sampleRate
    var faults = first.missing == 0 && !first.isDiscontinuity ? [] : ["the first frame misses something: \(first)"]
    for (before, after) in zip(frames, frames.dropFirst()) {
      let expected = Double(before.count + after.missing) / rate
      if abs((after.start - before.start).seconds - expected) > 1 / rate { faults.append("\(before), then \(after)") }
      if after.start <= before.start { faults.append("not rising: \(after)") }
      if after.missing > 0, !after.isDiscontinuity { faults.append("no mark: \(after)") }
    }
    // Nor may rounding add up.
    if let last = frames.last {
      let expected = Double(total - last.count) / rate
      let length = (last.start - first.start).seconds
      if abs(length - expected) > 1 / rate { faults.append("\(length) s have \(expected) s of samples") }
    }
    return Array(faults.prefix(5))
  }
}

/// A stream with sound, by hand, with listeners from before its start.
struct AudioScene {
  let glasses: SimulatedGlasses
  let clock: ManualTimekeeper
  let session: DeviceSession
  let camera: Camera
  let watched: WatchedStream
  let heard: HeardAudio

  var stream: MWDATCamera.Stream { camera.stream }

  static func configuration(
    _ rate: AudioSampleRate = .rate16000, channels: UInt32 = 1, video: VideoCodec = .hvc1
  ) -> StreamConfiguration {
    StreamConfiguration(
      videoCodec: video, audioCodec: .pcm(sampleRate: rate, numberOfChannels: channels), resolution: .low,
      frameRate: 15)
  }

  /// Runs a test with a stream that is streaming.
  static func run(
    _ configuration: StreamConfiguration = configuration(), keepsSamples: Bool = false,
    deviceClock: DeviceClock = .identity, prepare: (SimulatedGlasses) throws -> Void = { _ in },
    _ test: (AudioScene) async throws -> Void
  ) async throws {
    try await withGlassesByHand(deviceClock: deviceClock) { glasses, clock in
      try prepare(glasses)
      let session = try startedSession(with: glasses, clock)
      let camera = try #require(try session.addCamera(config: configuration))
      let heard = HeardAudio(camera.stream, keepsSamples: keepsSamples)
      let watched = WatchedStream(camera.stream)
      camera.stream.start()
      try await reach(.streaming, camera.stream, clock)
      let scene = AudioScene(
        glasses: glasses, clock: clock, session: session, camera: camera, watched: watched, heard: heard)
      try await test(scene)
      session.stop()
      clock.advance(by: .seconds(1))
    }
  }

  /// The permissions are asked for in a task, which runs when it likes: the clock goes in small steps until it has.
  static func reach(_ state: StreamState, _ stream: MWDATCamera.Stream, _ clock: ManualTimekeeper) async throws {
    for _ in 0..<10_000 where stream.state != state {
      clock.advance(by: .microseconds(100))
      await Task.yield()
    }
    try #require(stream.state == state)
  }
}
