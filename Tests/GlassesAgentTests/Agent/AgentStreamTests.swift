import LinkProtocol
import LinkTransport
import TestSupport
import Testing
import Units

@testable import GlassesAgent

@Suite("Streams of a pair of glasses")
struct AgentStreamTests {
  private let time = ManualTimekeeper()
  private let permissions = ListedPermissions(["app", "other"])
  private let session = SessionID(1)
  private let stream = StreamID(5)
  private let low = VideoParameters(codec: .hevc, size: PixelSize(width: 360, height: 640), frameRate: 15)

  private func makeAgent(deviceClock: DeviceClock = .identity) -> GlassesAgent {
    let agent = GlassesAgent(
      identity: GlassesIdentity(identifier: "g-1", name: "Test glasses", model: "Model", softwareVersion: "9"),
      timekeeper: time, permissions: permissions,
      configuration: GlassesAgent.Configuration(
        foldEffect: .endsSession, deviceClock: deviceClock, nonces: .seeded(SeededGenerator(seed: 3)),
        replaysCachedUnits: true))
    agent.hardware.powerOn()
    agent.hardware.don()
    return agent
  }

  private func connect(_ agent: GlassesAgent, app: String = "app", streaming: Bool = true) -> AppProbe {
    let probe = AppProbe(agent, timekeeper: time, app: app)
    time.settle()
    probe.send(.sessionOpen(SessionOpen(session: session)))
    if streaming { start(probe) }
    time.settle()
    return probe
  }

  /// Numbers are not used twice on one link.
  private func start(_ probe: AppProbe, as number: StreamID? = nil) {
    probe.send(.streamStart(StreamStart(stream: number ?? stream, session: session, video: low)))
  }

  private func stopReasons(_ probe: AppProbe) -> [StreamStopped.Reason] {
    probe.messages.compactMap {
      if case .streamStopped(let stopped) = $0 { stopped.reason } else { nil }
    }
  }

  @Test("a stream carries the pictures that were agreed on, from a sync unit on, at the agreed rate (PERF-1)")
  func pictures() throws {
    let agent = makeAgent()
    let probe = connect(agent)
    time.advance(by: .seconds(4))
    #expect(probe.messages.contains(.streamStarted(StreamStarted(stream: stream, video: low))))
    let units = probe.units.map(\.unit)
    let first = try #require(units.first)
    #expect(first.flags.contains([.sync, .parameterSets]))
    #expect(units.allSatisfy { $0.stream == stream && $0.size == low.size && !$0.payload.isEmpty })
    #expect((59...61).contains(units.count))
    #expect(zip(units, units.dropFirst()).allSatisfy { $0.captured < $1.captured })
    agent.shutDown(.unpaired)
    time.advance(by: .seconds(1))
  }

  @Test("after the stop, a pause or the session's end no unit is on its way any more", arguments: [0, 1, 2])
  func nothingFollows(way: Int) {
    let agent = makeAgent()
    let probe = connect(agent)
    time.advance(by: .seconds(1))
    switch way {
    case 0: probe.send(.streamStop(StreamStop(stream: stream)))
    case 1: agent.hardware.tap()
    default: probe.send(.sessionClose(SessionClose(session: session)))
    }
    time.advance(by: .milliseconds(20))
    let count = probe.units.count
    #expect(count > 10)
    time.advance(by: .seconds(3))
    #expect(probe.units.count == count)
    #expect(stopReasons(probe) == (way == 0 ? [.requested] : []))
  }

  @Test("after a pause the stream goes on with a sync unit, and times rise across it")
  func resume() throws {
    let agent = makeAgent()
    let probe = connect(agent)
    time.advance(by: .seconds(1))
    agent.hardware.tap()
    time.advance(by: .seconds(2))
    let before = probe.units.count
    agent.hardware.tap()
    time.advance(by: .seconds(1))
    let units = probe.units
    #expect(units.count > before + 10)
    #expect(units[before].unit.flags.contains(.sync))
    #expect(zip(units, units.dropFirst()).allSatisfy { $0.presentation < $1.presentation })
    #expect(units[before].presentation - units[before - 1].presentation >= .seconds(2))
  }

  @Test("a keyframe request is answered by the next picture (LOSS-5)")
  func keyframe() throws {
    let agent = makeAgent()
    let probe = connect(agent)
    time.advance(by: .milliseconds(500))
    let count = probe.units.count
    probe.send(.keyframeRequest(KeyframeRequest(stream: stream, reason: .application)))
    time.advance(by: .milliseconds(200))
    let late = probe.units.dropFirst(count).prefix(2)
    #expect(late.contains { $0.unit.flags.contains(.sync) })
  }

  @Test("an app without the permission gets none of the camera, until it is granted (PERM-2)")
  func permission() {
    let agent = makeAgent()
    let probe = connect(agent, app: "stranger")
    #expect(stopReasons(probe) == [.failed(.cameraPermissionDenied)])
    #expect(probe.units.isEmpty)
    permissions.allow("stranger")
    start(probe, as: StreamID(6))
    time.advance(by: .seconds(1))
    #expect(!probe.units.isEmpty)
  }

  @Test("a second app is told that the camera is taken, and gets it when the first has gone (LIFE-4)")
  func lease() {
    let agent = makeAgent()
    let first = connect(agent)
    let second = connect(agent, app: "other")
    #expect(stopReasons(second) == [.failed(.heldByOther)])
    first.leave()
    time.advance(by: .seconds(1))
    start(second, as: StreamID(6))
    time.advance(by: .seconds(1))
    #expect(!second.units.isEmpty)
  }

  @Test("an app that vanishes without a word frees the camera within five seconds (LIFE-4)")
  func vanished() {
    let agent = makeAgent()
    let first = connect(agent)
    time.advance(by: .seconds(1))
    first.vanish()
    time.advance(by: .seconds(5))
    #expect(agent.runningVideoCount == 0)
    #expect(agent.sessionCount == 1)
    let second = connect(agent, app: "other")
    time.advance(by: .seconds(1))
    #expect(!second.units.isEmpty)
    time.advance(by: .seconds(7))
    #expect(agent.linkCount == 1)
    #expect(agent.sessionCount == 1)
  }

  @Test("the same run gives the same bytes at the same times")
  func reproducible() {
    func run() -> [LinkEvent] {
      let world = AgentStreamTests()
      let agent = world.makeAgent(deviceClock: DeviceClock(offset: .seconds(9), partsPerMillion: 200))
      let probe = world.connect(agent)
      world.time.advance(by: .seconds(1))
      agent.hardware.tap()
      agent.hardware.tap()
      world.time.advance(by: .seconds(1))
      agent.hardware.fold()
      world.time.advance(by: .seconds(1))
      return probe.events
    }
    let first = run()
    #expect(first.count > 30)
    #expect(first == run())
  }

  @Test("a new feed shows in the running stream, from a sync unit on")
  func feed() throws {
    let agent = makeAgent()
    agent.camera.setFeed(.pattern)
    let probe = connect(agent)
    time.advance(by: .seconds(1))
    agent.camera.setFeed(.file(path: "/nonexistent.mp4"))
    time.advance(by: .seconds(1))
    #expect(stopReasons(probe) == [.failed(.sourceFailed)])
    let text = probe.messages.compactMap {
      if case .streamStopped(let stopped) = $0 { stopped.text } else { nil }
    }
    #expect(try #require(text.first).contains("/nonexistent.mp4"))
    #expect(agent.sessionCount == 1)
    agent.camera.setFeed(.pattern)
    start(probe, as: StreamID(6))
    time.advance(by: .seconds(1))
    #expect(probe.units.last.map { $0.arrived > time.now - .seconds(1) } == true)
  }
}
