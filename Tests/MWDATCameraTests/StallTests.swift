import LinkProtocol
import MWDATCamera
import MWDATCore
import TestSupport
import Testing
import Units

@Suite("Pictures that stop coming")
struct StallTests {
  @Test("Pictures that stop coming are told within a second, and told again when they come (STALL-1, STALL-3)")
  func stall() throws {
    let rig = try CameraRig()
    let events = Observed<StreamTelemetryEvent>()
    let token = rig.stream.telemetryPublisher.listen { events.record($0) }
    rig.stream.start()
    rig.settle()
    rig.run(pictures: 100)
    let last = rig.timekeeper.now
    #expect(rig.stream.state == .streaming)
    rig.timekeeper.advance(by: .seconds(1))
    #expect(rig.stream.state == .starting)
    #expect(rig.glasses.keyframeRequests.count == 1)
    let present = try #require(rig.stream.telemetry.recentStalls.last)
    #expect(!present.isOver && present.began < last && present.length == rig.timekeeper.now - present.began)
    rig.timekeeper.advance(by: .seconds(3))
    // The link answers all the while.
    #expect(rig.stream.state == .starting)
    rig.run(pictures: 100)
    #expect(rig.stream.state == .streaming)
    #expect(rig.log.values == ["waitingForDevice", "starting", "streaming", "starting", "streaming"])
    let telemetry = rig.stream.telemetry
    #expect(telemetry.stalls == 1)
    #expect(telemetry.recentStalls.map(\.isOver) == [true])
    #expect(telemetry.recentStalls.map(\.length) == [telemetry.stalledTime])
    #expect(telemetry.stalledTime > .milliseconds(3_900) && telemetry.stalledTime < .milliseconds(4_100))
    let lengths = events.values.compactMap { if case .stallEnded(_, let length) = $0.kind { length } else { nil } }
    #expect(lengths == [telemetry.stalledTime])
    withExtendedLifetime(token) {}
  }

  @Test("Recovery has 10 s; then there is one error, and stopped (STALL-4)")
  func recoveryEnds() throws {
    let rig = try CameraRig()
    rig.stream()
    rig.timekeeper.advance(by: .seconds(12))
    #expect(
      rig.log.values.filter { !$0.hasPrefix("camera") } == [
        "waitingForDevice", "starting", "streaming", "starting", "error timeout", "stopping", "stopped",
      ])
  }

  @Test("At two pictures a second a gap is three intervals")
  func slowStream() throws {
    let rig = try CameraRig(StreamConfiguration(videoCodec: .raw, resolution: .low, frameRate: 2))
    rig.stream()
    rig.timekeeper.advance(by: .milliseconds(1_400))
    #expect(rig.stream.state == .streaming)
    rig.timekeeper.advance(by: .milliseconds(200))
    #expect(rig.stream.state == .starting)
  }

  @Test("Glasses that fall silent altogether are waited for, until the link gives them up (STALL-1)")
  func silence() throws {
    let rig = try CameraRig()
    rig.stream()
    rig.glasses.fallSilent()
    rig.timekeeper.advance(by: .milliseconds(2_500))
    #expect(rig.stream.state == .waitingForDevice)
    rig.timekeeper.advance(by: .seconds(10))
    let log = rig.log.values.filter { !$0.hasPrefix("camera") }
    #expect(log.prefix(5) == ["waitingForDevice", "starting", "streaming", "starting", "waitingForDevice"])
    #expect(log.suffix(3) == ["error deviceNotConnected(\"A\")", "stopping", "stopped"])
  }

  @Test("A rest is no stall, and neither is the end")
  func restIsNoStall() throws {
    let rig = try CameraRig()
    rig.stream()
    rig.glasses.send(.sessionPaused(SessionPaused(session: rig.session.linkSessionID, reason: .wearer)))
    rig.timekeeper.advance(by: .seconds(60))
    #expect(rig.stream.state == .paused)
    #expect(rig.stream.telemetry.stalls == 0)
    rig.stream.stop()
    rig.timekeeper.advance(by: .seconds(60))
    #expect(rig.log.values == ["waitingForDevice", "starting", "streaming", "paused", "stopping", "stopped"])
    // A watch that ended with one attempt begins again with the next.
    rig.glasses.send(.sessionResumed(SessionResumed(session: rig.session.linkSessionID)))
    rig.settle()
    rig.stream()
    rig.timekeeper.advance(by: .milliseconds(1_100))
    #expect(rig.stream.telemetry.stalls == 1)
  }
}
