import Glasswing
import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing

/// Pauses, and what heat, charge and draw do to sessions and streams.
@Suite(.exclusive(.mockKit))
struct ConditionTests {
  private static let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 24)

  // MARK: - Pauses

  private static let pauses:
    [(PauseReason, @Sendable (SimulatedGlasses) -> Void, @Sendable (SimulatedGlasses) -> Void)] = [
      (.wearer, { $0.services.captouch.tap() }, { $0.services.captouch.tap() }),
      (.thermal, { $0.agent.hardware.rest(.thermal) }, { $0.agent.hardware.endRest(.thermal) }),
      (.system, { $0.agent.hardware.rest(.system) }, { $0.agent.hardware.endRest(.system) }),
    ]

  @Test("LIFE-7: a pause says why, on the session and as a health event, and ends in streaming", arguments: 0..<3)
  func reasons(index: Int) async throws {
    let (reason, pause, resume) = Self.pauses[index]
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let watched = try await startedStream(in: session, Self.configuration, clock)
      let health = Observed<StreamHealthEvent>()
      let heard = Observed<PauseReason?>()
      let tokens = ListenerTokenBag()
      watched.stream.healthPublisher.listen { health.record($0) }.store(in: tokens)
      session.statePublisher.listen { [weak session] _ in heard.record(session?.pauseReason) }.store(in: tokens)
      #expect(session.pauseReason == nil)
      pause(glasses)
      clock.advance(by: .seconds(1))
      #expect(session.state == .paused && watched.stream.state == .paused)
      #expect(session.pauseReason == reason)
      #expect(health.values.last { $0.kind == .paused }?.text == reason.rawValue)
      resume(glasses)
      clock.advance(by: .seconds(1))
      #expect(session.state == .started && watched.stream.state == .streaming)
      #expect(session.pauseReason == nil)
      #expect(heard.values == [reason, nil])
      #expect(health.values.contains { $0.kind == .resumed })
      #expect(watched.errors.isEmpty)
      session.stop()
    }
  }

  @Test(
    "LIFE-7: nothing starts by itself during a pause, however long it lasts and whatever the app asks for",
    arguments: 0..<3)
  func noRestart(index: Int) async throws {
    let (_, pause, _) = Self.pauses[index]
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let watched = try await startedStream(in: session, Self.configuration, clock)
      pause(glasses)
      clock.advance(by: .seconds(1))
      let frames = watched.frames.values.count
      let events = watched.events.values.count
      watched.stream.start()
      watched.stream.requestKeyframe()
      #expect(watched.stream.capturePhoto(format: .jpeg) == false)
      // A finger doesn't cool the glasses, nor end another use of them.
      if index > 0 { glasses.services.captouch.tap() }
      clock.advance(by: .seconds(3600))
      #expect(watched.stream.state == .paused && session.state == .paused)
      #expect(watched.frames.values.count == frames && watched.events.values.count == events)
      #expect(glasses.agent.runningVideoCount == 0)
      watched.stream.stop()
      clock.advance(by: .seconds(2))
      #expect(watched.stream.state == .stopped && watched.errors.isEmpty)
      session.stop()
    }
  }

  // MARK: - Heat, charge, draw

  private struct Condition: Sendable {
    let name: String
    let stream: StreamError
    /// nil for what a session survives.
    let session: DeviceSessionError?
    /// Whether it lasts, and so forbids the next start too.
    let lasts: Bool
    let apply: @Sendable (SimulatedGlasses) -> Void
  }

  private static let conditions = [
    Condition(name: "severe heat", stream: .thermalHot, session: nil, lasts: true) { $0.setThermalLevel(.severe) },
    Condition(name: "critical heat", stream: .thermalHot, session: .thermalCritical, lasts: true) {
      $0.setThermalLevel(.critical)
    },
    Condition(name: "emergency heat", stream: .thermalHot, session: .thermalEmergency, lasts: true) {
      $0.setThermalLevel(.emergency)
    },
    Condition(name: "shutdown heat", stream: .thermalHot, session: .thermalEmergency, lasts: true) {
      $0.setThermalLevel(.shutdown)
    },
    Condition(name: "battery at 5 %", stream: .batteryLow, session: nil, lasts: true) { $0.setBatteryLevel(5) },
    Condition(name: "battery at 2 %", stream: .batteryLow, session: .batteryCritical, lasts: true) {
      $0.setBatteryLevel(2)
    },
    Condition(name: "too much draw", stream: .peakPowerLimit, session: nil, lasts: false) {
      $0.agent.hardware.raisePeakPowerLimit()
    },
    Condition(name: "far too much draw", stream: .peakPowerLimit, session: .peakPowerShutdown, lasts: false) {
      $0.agent.hardware.raisePeakPowerShutdown()
    },
  ]

  @Test("ERR-1: heat, charge and draw end stream and session by their exact errors", arguments: conditions.indices)
  func ends(index: Int) async throws {
    let condition = Self.conditions[index]
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let watched = try await startedStream(in: session, Self.configuration, clock)
      let errors = Observed<DeviceSessionError>()
      let token = session.errorPublisher.listen { errors.record($0) }
      condition.apply(glasses)
      clock.advance(by: .seconds(2))
      #expect(watched.errors == [condition.stream], "\(condition.name)")
      #expect(watched.events.values.suffix(3) == [.error(condition.stream), .state(.stopping), .state(.stopped)])
      #expect(errors.values == (condition.session.map { [$0] } ?? []), "\(condition.name)")
      #expect(session.state == (condition.session == nil ? .started : .stopped), "\(condition.name)")
      #expect(glasses.agent.runningVideoCount == 0)
      await token.cancel()
      session.stop()
      clock.advance(by: .seconds(2))
    }
  }

  @Test("ERR-1: while heat or charge forbid it, a start fails by the same errors", arguments: conditions.indices)
  func refuses(index: Int) async throws {
    let condition = Self.conditions[index]
    try await withGlassesByHand { glasses, clock in
      condition.apply(glasses)
      clock.advance(by: .seconds(1))
      let session = try Wearables.shared.createSession(
        deviceSelector: SpecificDeviceSelector(device: glasses.deviceIdentifier))
      let errors = Observed<DeviceSessionError>()
      let token = session.errorPublisher.listen { errors.record($0) }
      try session.start()
      clock.advance(by: .seconds(2))
      guard condition.lasts, let expected = condition.session else {
        #expect(session.state == .started && errors.values.isEmpty)
        let watched = WatchedStream(try #require(try session.addCamera(config: Self.configuration)).stream)
        watched.stream.start()
        let end: StreamState = condition.lasts ? .stopped : .streaming
        for _ in 0..<10_000 where watched.states.last != end {
          clock.advance(by: .microseconds(100))
          await Task.yield()
        }
        #expect(watched.stream.state == end, "\(condition.name)")
        #expect(watched.errors == (condition.lasts ? [condition.stream] : []), "\(condition.name)")
        await token.cancel()
        session.stop()
        clock.advance(by: .seconds(2))
        return
      }
      #expect(errors.values == [expected] && session.state == .stopped, "\(condition.name)")
      await token.cancel()
    }
  }

  @Test("a charging battery forbids nothing, and one that is charged again allows the next stream")
  func charging() async throws {
    try await withGlassesByHand { glasses, clock in
      glasses.setChargingState(.charging)
      glasses.setBatteryLevel(1)
      clock.advance(by: .seconds(1))
      let session = try startedSession(with: glasses, clock)
      let watched = try await startedStream(in: session, Self.configuration, clock)
      glasses.setBatteryLevel(5)
      glasses.setChargingState(.notCharging)
      clock.advance(by: .seconds(1))
      #expect(watched.errors == [.batteryLow])
      glasses.setBatteryLevel(6)
      clock.advance(by: .seconds(1))
      let next = try await startedStream(in: session, Self.configuration, clock)
      #expect(next.stream.state == .streaming)
      session.stop()
    }
  }
}
