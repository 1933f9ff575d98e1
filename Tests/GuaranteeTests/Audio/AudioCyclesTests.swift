import Glasswing
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing

/// From nothing to a stream with sound and back, again and again, on real threads.
@Suite(.exclusive(.mockKit))
struct AudioCyclesTests {
  @Test(
    "LIFE-3: a hundred cycles with sound leave nothing, and the next start has sound",
    arguments: [VideoCodec.hvc1, .raw])
  func cycles(codec: VideoCodec) async throws {
    let before = ProcessResources.now()
    try await withGlasses { glasses in
      let glasses = try #require(glasses as? SimulatedGlasses)
      for number in 0..<100 { try await cycle(number, codec, glasses) }
      #expect(glasses.agent.sessionCount == 0)
      let session = try await startedSession(with: glasses)
      let camera = try #require(try session.addCamera(config: Self.configuration(0, codec)))
      let watched = WatchedStream(camera.stream)
      let sound = Observed<CMTime>()
      let token = camera.stream.audioFramePublisher.listen { sound.record($0.presentationTimeStamp) }
      camera.stream.start()
      try await watched.events.wait("streaming", within: .seconds(3)) { $0.last == .state(.streaming) }
      try await sound.wait("sound", within: .seconds(3)) { $0.count > 10 }
      await token.cancel()
      session.stop()
    }
    let after = await ProcessResources.settled { $0.holdsNoMoreOfStreams(than: before) }
    #expect(
      after.holdsNoMoreOfStreams(than: before),
      "before: \(before) \(before.descriptors); after: \(after) \(after.descriptors)")
  }

  private static func configuration(_ number: Int, _ codec: VideoCodec) -> StreamConfiguration {
    let rate = AudioSampleRate.allCases[number % 3]
    return StreamConfiguration(
      videoCodec: codec, audioCodec: .pcm(sampleRate: rate, numberOfChannels: UInt32(1 + number % 2)),
      resolution: .low, frameRate: 15)
  }

  private func cycle(_ number: Int, _ codec: VideoCodec, _ glasses: SimulatedGlasses) async throws {
    let session = try await startedSession(with: glasses)
    let camera = try #require(try session.addCamera(config: Self.configuration(number, codec)))
    let watched = WatchedStream(camera.stream)
    let sound = Observed<CMTime>()
    let token = camera.stream.audioFramePublisher.listen { sound.record($0.presentationTimeStamp) }
    camera.stream.start()
    if number % 4 == 0 { try await sound.wait("sound") { $0.count > 2 } }
    switch number % 6 {
    case 0: await token.cancel()
    case 1: camera.stop()
    case 2:
      camera.stream.stop()
      try await watched.wait(for: .stopped, within: .seconds(3))
    case 3: glasses.services.captouch.tap()
    default: break
    }
    let states = session.stateStream()
    session.stop()
    for await _ in states {}  // the place is free once the session has stopped
    #expect(camera.stream.state == .stopped)
    await token.cancel()
  }
}
