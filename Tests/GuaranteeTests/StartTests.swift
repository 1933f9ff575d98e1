import Foundation
import Glasswing
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// From `start()` to the first picture, or to the reason why there is none.
@Suite(.exclusive(.mockKit))
struct StartTests {
  /// What keeps a start from its pictures: how, and the error and the stage that it ends with.
  struct Obstacle: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let error: String
    let stage: ErrorStage
    /// Of the failure's text, where it is this side that says what did not come.
    var words = ""
    /// How long it has been there before the start.
    var lead: Duration = .zero
    let apply: @Sendable (SimulatedGlasses) -> Void
  }

  static let obstacles: [Obstacle] = [
    Obstacle(testDescription: "sends nothing", error: "stream.timeout", stage: .start, words: Self.noPicture) {
      $0.agent.faults.sendsNothing = true
    },
    Obstacle(
      testDescription: "answers nothing", error: "stream.timeout", stage: .start,
      words: "start: the glasses did not answer the request for pictures"
    ) {
      $0.agent.faults.ignoresMessages = true
    },
    Obstacle(testDescription: "video muted", error: "stream.timeout", stage: .start, words: Self.noPicture) {
      $0.link.mute(.video)
    },
    Obstacle(testDescription: "half-open", error: "stream.deviceNotConnected", stage: .link, lead: .milliseconds(2500))
    {
      $0.link.hold(.toApp)
    },
    Obstacle(testDescription: "dead peer", error: "stream.deviceNotConnected", stage: .link, lead: .milliseconds(2500))
    {
      $0.link.hold(.toApp)
      $0.link.hold(.toGlasses)
    },
    Obstacle(testDescription: "refused", error: "stream.videoStreamingError", stage: .start) {
      $0.agent.faults.refusesStart = .sourceFailed
    },
    Obstacle(testDescription: "feed missing", error: "stream.videoStreamingError", stage: .start) {
      $0.services.camera.setCameraFeed(fileURL: URL(fileURLWithPath: "/nowhere/feed.mp4"))
    },
    Obstacle(testDescription: "permission denied", error: "stream.permissionDenied", stage: .connect) { _ in
      MockKit.shared.permissions.set(.camera, .denied)
    },
    Obstacle(testDescription: "too hot", error: "stream.thermalHot", stage: .start) { $0.setThermalLevel(.severe) },
    Obstacle(testDescription: "cut", error: "stream.deviceNotConnected", stage: .link) { $0.link.cut() },
  ]

  private static let noPicture = "start: the glasses agreed to the stream, and no picture that can be shown came"

  @Test(
    "STALL-2: a start without pictures ends in one typed error that names the stage, in time, and was never streaming",
    arguments: obstacles)
  func obstacle(_ obstacle: Obstacle) async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let camera = try #require(
        try session.addCamera(config: StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)))
      let watch = SilenceWatch(camera.stream, clock)
      let health = Observed<StreamHealthEvent>()
      let token = camera.stream.healthPublisher.listen { health.record($0) }
      obstacle.apply(glasses)
      if obstacle.lead > .zero { clock.walk(obstacle.lead) }
      camera.stream.start()
      for _ in 0..<220 where camera.stream.state != .stopped || watch.events.isEmpty {
        clock.advance(by: .milliseconds(50))
        await Task.yield()
      }
      #expect(camera.stream.state == .stopped)
      #expect(!watch.states.contains(.streaming))
      #expect(watch.errors.map(\.facts.name) == [obstacle.error])
      #expect(watch.errors.allSatisfy { $0.facts.severity == .terminal })
      #expect(watch.states.suffix(2) == [.stopping, .stopped])
      let failed = health.values.filter { $0.kind == .failed }
      #expect(failed.map { $0.error?.name } == [obstacle.error])
      #expect(failed.map { $0.error?.stage } == [obstacle.stage])
      #expect(failed.allSatisfy { $0.text?.isEmpty == false }, "the cause is there in words")
      let message = try #require(camera.stream.lastFailure).message
      #expect(obstacle.words.isEmpty || message.contains(obstacle.words), "\(message)")
      withExtendedLifetime(token) {}
      session.stop()
    }
  }

  @Test("STALL-2: streaming is announced with a unit here, and the deadline before that can be set")
  func deadlineIsSettable() async throws {
    let usual = MWDATCamera.Stream.startDeadline
    MWDATCamera.Stream.startDeadline = .seconds(3)
    defer { MWDATCamera.Stream.startDeadline = usual }
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let camera = try #require(
        try session.addCamera(config: StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)))
      let stream = camera.stream
      let units = Observed<UInt64>()
      let token = stream.statePublisher.listen { [weak stream] state in
        if state == .streaming, let stream { units.record(stream.statistics.units) }
      }
      stream.start()
      clock.walk(.seconds(1))
      await Task.yield()
      clock.walk(.seconds(1))
      #expect(units.values.allSatisfy { $0 >= 1 } && units.values.count == 1)
      stream.stop()
      clock.walk(.seconds(1))

      glasses.agent.faults.sendsNothing = true
      let watch = SilenceWatch(stream, clock)
      let begun = clock.now
      stream.start()
      for _ in 0..<220 where watch.last != .stopped || watch.events.isEmpty {
        clock.advance(by: .milliseconds(50))
        await Task.yield()
      }
      #expect(watch.errors == [.timeout])
      #expect(clock.now - begun <= .milliseconds(3200), "\(clock.now - begun)")
      withExtendedLifetime(token) {}
      session.stop()
    }
  }

  @Test("STALL-6: waitingForDevice says what for, before the state, and ends by a deadline")
  func waiting() async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let camera = try #require(
        try session.addCamera(config: StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)))
      let heard = Observed<String>()
      let tokens = ListenerTokenBag()
      camera.stream.healthPublisher.listen { if $0.kind == .waiting { heard.record("\($0.text ?? "")") } }
        .store(in: tokens)
      camera.stream.statePublisher.listen { heard.record("\($0)") }.store(in: tokens)
      camera.stream.errorPublisher.listen { heard.record("\($0.facts.name)") }.store(in: tokens)

      glasses.services.captouch.tap()
      clock.walk(.milliseconds(200))
      #expect(session.state == .paused)
      camera.stream.start()
      for _ in 0..<10 {
        clock.advance(by: .milliseconds(50))
        await Task.yield()
      }
      #expect(heard.values == ["permission", "waitingForDevice", "pausedSession"])
      clock.walk(.seconds(31))
      #expect(heard.values.dropFirst(3) == ["stream.deviceNotConnected", "stopping", "stopped"])
      let message = try #require(camera.stream.lastFailure).message
      #expect(message.contains("connect: the paused session did not go on within 30"), "\(message)")
      session.stop()
    }
  }

  @Test("STALL-6: a link that falls silent is waited for, said so, and given up by a deadline")
  func silentLink() async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)
      let stream = try await startedStream(in: session, configuration, clock).stream
      let heard = Observed<String>()
      let tokens = ListenerTokenBag()
      stream.healthPublisher.listen { if $0.kind == .waiting { heard.record("\($0.text ?? "")") } }.store(in: tokens)
      stream.statePublisher.listen { heard.record("\($0)") }.store(in: tokens)
      stream.errorPublisher.listen { heard.record("\($0.facts.name)") }.store(in: tokens)
      glasses.link.hold(.toApp)
      glasses.link.hold(.toGlasses)
      clock.walk(.seconds(12))
      #expect(
        heard.values == [
          "starting", "silentLink", "waitingForDevice", "stream.deviceNotConnected", "stopping", "stopped",
        ])
      session.stop()
    }
  }
}
