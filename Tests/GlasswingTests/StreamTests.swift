import Foundation
@testable import Glasswing
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing

/// What Glasswing adds to a stream, with simulated glasses and in real time.
@Suite("Streams of simulated glasses", .exclusive(.mockKit))
struct StreamTests {
  /// Glasses that are on, and a camera on them.
  private func withCamera(
    _ codec: VideoCodec = .hvc1, feed: String? = nil, frameRate: UInt = 30,
    _ body: (MWDATCamera.Camera, any MockGlasses) async throws -> Void
  ) async throws {
    MockDeviceKit.shared.enable()
    let glasses = try MockDeviceKit.shared.pairGlasses(model: .rayBanMeta)
    if let feed { glasses.services.camera.setCameraFeed(fileURL: URL(filePath: feed)) }
    glasses.powerOn()
    glasses.don()
    let session = try Wearables.shared.createSession(
      deviceSelector: SpecificDeviceSelector(device: glasses.deviceIdentifier))
    let states = session.stateStream()
    try session.start()
    for await state in states where state == .started { break }
    let camera = try #require(
      try session.addCamera(config: StreamConfiguration(videoCodec: codec, resolution: .low, frameRate: frameRate)))
    do {
      try await body(camera, glasses)
    } catch {
      session.stop()
      await MockDeviceKit.shared.disable()
      throw error
    }
    session.stop()
    await MockDeviceKit.shared.disable()
  }

  @Test(
    "REC-5: a stream is recorded beside a listener that takes half a second a frame, and loses nothing by it",
    .needsRealTimeSpeed)
  func recordsBesideSlowListener() async throws {
    try await withCamera { camera, _ in
      let path = try MediaFactory.newPath("mp4")
      var options = Recorder.Options()
      options.limit = .seconds(2)
      let recorder = try Recorder(to: URL(filePath: path), options: options)
      let events = Observed<RecordingEvent>()
      let tokens = ListenerTokenBag()
      recorder.eventPublisher.listen { events.record($0) }.store(in: tokens)
      let pause = DispatchSemaphore(value: 0)
      // A listener that is slow on purpose: it waits for what never comes.
      camera.stream.videoFramePublisher.listen { _ in _ = pause.wait(timeout: .now() + 0.5) }.store(in: tokens)
      try recorder.record(camera.stream)
      camera.stream.start()
      try await events.wait { $0.contains { $0.kind == .reachedLimit } }
      let summary = try await recorder.finish()
      let statistics = summary.statistics
      #expect(statistics.framesIn == statistics.framesWritten + statistics.framesDropped)
      #expect(statistics.framesDropped == 0)
      #expect((57...61).contains(statistics.framesWritten))
      #expect(try MediaInspector.pictureCount(path) == statistics.framesWritten)
      #expect(try MediaInspector.complaints(path) == "")
      tokens.clear()
    }
  }

  @Test("LOSS-5: a recorder that joins a running stream begins with a keyframe within a second, asked for at once")
  func joinsLate() async throws {
    try await withCamera { camera, _ in
      let states = Observed<StreamState>()
      let health = Observed<StreamHealthEvent>()
      let tokens = ListenerTokenBag()
      camera.stream.statePublisher.listen { states.record($0) }.store(in: tokens)
      camera.stream.healthPublisher.listen { health.record($0) }.store(in: tokens)
      camera.stream.start()
      try await states.wait { $0.last == .streaming }
      let recorder = try Recorder(to: URL(filePath: MediaFactory.newPath("mov")))
      let events = Observed<RecordingEvent>()
      recorder.eventPublisher.listen { events.record($0) }.store(in: tokens)
      try recorder.record(camera.stream)
      try await events.wait("the first frame", within: .seconds(1)) { $0.contains { $0.kind == .began } }
      #expect(health.values.contains { $0.kind == .keyframeRequested })
      _ = try await recorder.finish()
      tokens.clear()
    }
  }

  @Test("A stream of decoded frames can't be recorded, and says what to ask for")
  func refusesRaw() async throws {
    try await withCamera(.raw) { camera, _ in
      let path = try MediaFactory.newPath("mp4")
      let recorder = try Recorder(to: URL(filePath: path))
      #expect(throws: RecorderError.needsCompressedVideo(found: "decoded video; ask the stream for .hvc1")) {
        try recorder.record(camera.stream)
      }
      _ = try? await recorder.finish()
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  @Test("Statistics count frames, bits and ages while a stream runs, and say what was negotiated")
  func statistics() async throws {
    try await withCamera(frameRate: 25) { camera, _ in
      let frames = Observed<Void>()
      let health = Observed<StreamHealthEvent>()
      let tokens = ListenerTokenBag()
      camera.stream.videoFramePublisher.listen { _ in frames.record(()) }.store(in: tokens)
      camera.stream.healthPublisher.listen { health.record($0) }.store(in: tokens)
      #expect(camera.stream.negotiatedConfiguration == nil)
      camera.stream.start()
      try await frames.wait { $0.count >= 30 }
      let statistics = camera.stream.statistics
      #expect(statistics.frames >= 30)
      #expect(statistics.units >= statistics.frames)
      #expect((15...30).contains(statistics.framesPerSecond))
      #expect(statistics.bitsPerSecond > 10_000)
      #expect(try #require(statistics.ageP50) > .zero)
      #expect(try #require(statistics.ageP95) >= #require(statistics.ageP50))
      #expect(try #require(statistics.firstFrame) > .zero)
      #expect(statistics.starts == 1)
      #expect(statistics.drops.total == 0)
      let negotiated = NegotiatedVideo(width: 360, height: 640, frameRate: 24)
      #expect(camera.stream.negotiatedConfiguration == negotiated, "25 snaps to 24")
      #expect(health.values.first { $0.kind == .negotiated }?.video == negotiated)
      let stored = try JSONEncoder().encode(statistics)
      #expect(try JSONDecoder().decode(StreamStatistics.self, from: stored) == statistics)
      tokens.clear()
    }
  }

  @Test("A keyframe that an app asks for comes, and both are told")
  func keyframe() async throws {
    try await withCamera { camera, _ in
      let frames = Observed<Void>()
      let health = Observed<StreamHealthEvent>()
      let tokens = ListenerTokenBag()
      camera.stream.videoFramePublisher.listen { _ in frames.record(()) }.store(in: tokens)
      camera.stream.healthPublisher.listen { health.record($0) }.store(in: tokens)
      camera.stream.start()
      try await frames.wait { $0.count >= 10 }
      let before = camera.stream.statistics.keyframes
      camera.stream.requestKeyframe()
      let event = try await health.first { $0.kind == .keyframeRequested && $0.text == "application" }
      let count = frames.values.count
      try await frames.wait { $0.count >= count + 10 }
      #expect(camera.stream.statistics.keyframes > before)
      #expect(camera.stream.statistics.keyframeRequests >= 1)
      #expect(event.hostNanoseconds > 0)
      tokens.clear()
    }
  }

  @Test("A feed that can't be played is named by a health event, with what is wrong with it")
  func badFeed() async throws {
    let feed = try MediaFactory.path(.audioOnly)
    try await withCamera(feed: feed) { camera, _ in
      let health = Observed<StreamHealthEvent>()
      let states = Observed<StreamState>()
      let tokens = ListenerTokenBag()
      camera.stream.healthPublisher.listen { health.record($0) }.store(in: tokens)
      camera.stream.statePublisher.listen { states.record($0) }.store(in: tokens)
      camera.stream.start()
      try await states.wait(within: .seconds(2)) { $0.contains(.stopped) }
      let failed = try await health.first { $0.kind == .failed }
      #expect(failed.text?.contains(feed) == true)
      #expect(failed.text?.contains("no video track") == true)
      tokens.clear()
    }
  }

  @Test("Readiness follows the glasses")
  func readiness() async throws {
    MockDeviceKit.shared.enable(
      config: MockDeviceKitConfig(initiallyRegistered: true, initialPermissionsGranted: false))
    #expect(await Wearables.shared.readiness().missing.map(\.step) == [.deviceKnown])
    let glasses = try MockDeviceKit.shared.pairGlasses(model: .rayBanMeta)
    glasses.powerOn()
    glasses.don()
    #expect(await Wearables.readiness().missing.map(\.step) == [.cameraPermitted])
    MockDeviceKit.shared.permissions.set(.camera, .granted)
    #expect(await Wearables.shared.readiness(for: glasses.deviceIdentifier).isReady)
    glasses.setThermalLevel(.severe)
    let tooHot = await Wearables.shared.readiness(for: glasses.deviceIdentifier)
    #expect(tooHot.missing.map(\.step) == [.healthy])
    await MockDeviceKit.shared.disable()
  }
}
