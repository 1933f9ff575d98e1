import Foundation
import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

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
    _ rate: AudioSampleRate = .rate16000, channels: UInt32 = 1, video: VideoCodec = .hvc1,
    resolution: StreamingResolution = .low, frameRate: UInt = 15
  ) -> StreamConfiguration {
    StreamConfiguration(
      videoCodec: video, audioCodec: .pcm(sampleRate: rate, numberOfChannels: channels), resolution: resolution,
      frameRate: frameRate)
  }

  /// Runs a test with a stream that is streaming.
  static func run(
    _ configuration: StreamConfiguration = configuration(), feed: URL? = nil, keepsSamples: Bool = false,
    encodesLive: Bool = false, deviceClock: DeviceClock = .identity, seed: UInt64 = 1,
    prepare: (SimulatedGlasses) async throws -> Void = { _ in }, _ test: (AudioScene) async throws -> Void
  ) async throws {
    try await withGlassesByHand(feed: feed, encodesLive: encodesLive, deviceClock: deviceClock, seed: seed) {
      glasses, clock in
      try await prepare(glasses)
      let session = try startedSession(with: glasses, clock)
      let scene = try await AudioScene(
        glasses, clock, session, configuration, keepsSamples: keepsSamples, until: .streaming)
      try await test(scene)
      session.stop()
      clock.advance(by: .seconds(1))
    }
  }

  /// Starts a stream and returns when it has come to a state.
  init(
    _ glasses: SimulatedGlasses, _ clock: ManualTimekeeper, _ session: DeviceSession,
    _ configuration: StreamConfiguration, keepsSamples: Bool = false, until state: StreamState
  ) async throws {
    self.glasses = glasses
    self.clock = clock
    self.session = session
    camera = try #require(try session.addCamera(config: configuration))
    heard = HeardAudio(camera.stream, clock: clock, keepsSamples: keepsSamples)
    watched = WatchedStream(camera.stream)
    camera.stream.start()
    for _ in 0..<10_000 where watched.states.last != state {
      clock.advance(by: .microseconds(100))
      await Task.yield()
    }
    try #require(watched.states.last == state)
  }

  /// The next stream of the same session.
  func next(
    _ configuration: StreamConfiguration = configuration(), until state: StreamState = .streaming
  ) async throws -> AudioScene { try await AudioScene(glasses, clock, session, configuration, until: state) }

  /// The permissions are asked for in a task, which runs when it likes: the clock goes in small steps until it has.
  static func reach(_ state: StreamState, _ stream: MWDATCamera.Stream, _ clock: ManualTimekeeper) async throws {
    for _ in 0..<10_000 where stream.state != state {
      clock.advance(by: .microseconds(100))
      await Task.yield()
    }
    try #require(stream.state == state)
  }
}
