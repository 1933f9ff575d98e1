import LinkProtocol
import MWDATCamera
import MWDATCore
import TestSupport
import Testing
import Units

@testable import MWDATCamera

@Suite("Budget of recoveries")
struct RecoveryBudgetTests {
  private let start = Instant(nanoseconds: 1_000_000_000_000)

  private func limits(stalls: Int = 3, time: Duration = .seconds(30)) -> RecoveryBudget.Limits {
    var limits = RecoveryBudget.Limits()
    limits.window = .seconds(60)
    limits.stalls = stalls
    limits.stalledTime = time
    return limits
  }

  @Test(
    "So many stalls in the window are borne, and the next one is not; those that are long past don't count (STALL-4)")
  func count() {
    var budget = RecoveryBudget(limits())
    var now = start
    for _ in 0..<3 {
      #expect(budget.begin(since: now - .seconds(1), at: now) > .zero)
      budget.end(at: now + .seconds(1))
      now = now + .seconds(5)
    }
    #expect(budget.begin(since: now - .seconds(1), at: now) == .zero)
    #expect(budget.begin(since: now + .seconds(50), at: now + .seconds(51)) > .zero)
  }

  @Test("All stalls in the window together may last so long, the present one from its start (STALL-4)")
  func time() {
    var budget = RecoveryBudget(limits(stalls: 100, time: .seconds(10)))
    #expect(budget.begin(since: start, at: start + .seconds(1)) == .seconds(9))
    budget.end(at: start + .seconds(4))
    let later = start + .seconds(20)
    #expect(budget.begin(since: later - .seconds(1), at: later) == .seconds(5))
    budget.end(at: later + .seconds(5))
    #expect(budget.begin(since: later + .seconds(6), at: later + .seconds(7)) == .zero)
    // Half of the first stall has left the window by then.
    var other = RecoveryBudget(limits(stalls: 100, time: .seconds(10)))
    _ = other.begin(since: start, at: start + .seconds(1))
    other.end(at: start + .seconds(8))
    #expect(other.begin(since: start + .seconds(63), at: start + .seconds(64)) == .seconds(5))
  }

  @Test("The allowance bounds a recovery, and none at all ends the attempt by one error (STALL-4)")
  func machine() {
    let attempt = StreamID(1)
    var machine = StreamMachine(device: "A", phase: .streaming(attempt))
    let actions = machine.handle(.unitsMissing(attempt, linkAnswers: true, allowance: .seconds(3)))
    #expect(actions.contains { if case .setDeadline(_, .seconds(3)) = $0 { true } else { false } })
    machine = StreamMachine(device: "A", phase: .streaming(attempt))
    #expect(
      machine.handle(.unitsMissing(attempt, linkAnswers: true, allowance: .zero)) == [
        .clearDeadline, .report(.timeout), .announce(.stopping), .close(attempt, tellsGlasses: true), .endCamera,
        .announce(.stopped),
      ])
  }
}

@Suite("Watch for pictures that stop coming")
struct StallWatchTests {
  @Test("A gap may be a second, three agreed intervals, or three of the source's own, of up to two seconds")
  func patience() {
    func patience(_ frameRate: UInt8, source milliseconds: Int) -> Duration {
      StallWatch.patience(limit: .seconds(1), frameRate: frameRate, source: .milliseconds(milliseconds))
    }
    #expect(patience(30, source: 0) == .seconds(1))
    #expect(patience(2, source: 33) == .milliseconds(1500))
    #expect(patience(30, source: 700) == .milliseconds(2100))
    #expect(patience(30, source: 5000) == .seconds(6))
  }

  @Test("A source's interval is that of its captures: no loss, no long gap and no rest makes it a slow one")
  func interval() {
    var interval = SourceInterval()
    var captured = Instant(nanoseconds: 0)
    func arrive(after milliseconds: Int, lost: Int = 0, isGap: Bool = false, times: Int = 1) {
      for _ in 0..<times {
        captured = captured + .milliseconds(milliseconds)
        interval.arrived(captured: captured, lostBefore: lost, isGap: isGap)
      }
    }
    arrive(after: 40, times: 4)
    #expect(interval.shortest == .zero)
    arrive(after: 40)
    #expect(interval.shortest == .milliseconds(40))
    // All but every twenty-fifth is lost.
    arrive(after: 1000, lost: 24, times: 8)
    #expect(interval.shortest == .milliseconds(40))
    arrive(after: 9000)
    arrive(after: 3000, isGap: true, times: 8)
    #expect(interval.shortest == .milliseconds(40))
    interval.rested()
    arrive(after: 60_000)
    #expect(interval.shortest == .milliseconds(40))
    arrive(after: 700, times: 4)
    #expect(interval.shortest == .milliseconds(700))
  }
}

@Suite("Recovery of a stream")
struct RecoveryTests {
  @Test("Decoded pictures that stop coming are a stall, though units go on arriving (STALL-1)")
  func undecodable() throws {
    let rig = try CameraRig()
    let frames = Counter()
    let token = rig.stream.videoFramePublisher.listen { _ in frames.add() }
    rig.stream(pictures: 1)
    rig.run(pictures: 4)
    rig.glasses.sendUndecodablePicture()
    let before = frames.value
    // The source ignores that a sync unit is asked for.
    for _ in 0..<48 {
      if var unit = rig.glasses.nextUnit() {
        unit.flags = []
        rig.glasses.connection.send(unit)
      }
      rig.timekeeper.advance(by: .nanoseconds(1_000_000_000 / 24))
    }
    #expect(frames.value <= before + 1)
    #expect(rig.stream.state == .starting)
    #expect(rig.stream.telemetry.stalls == 1)
    rig.glasses.skipToSyncPicture()
    rig.run(pictures: 8)
    #expect(rig.stream.state == .streaming)
    withExtendedLifetime(token) {}
  }

  @Test("A stream that goes on and off ends by one error when the budget is spent (STALL-4)")
  func flapping() throws {
    let rig = try CameraRig()
    let events = Observed<StreamTelemetryEvent>()
    let token = rig.stream.telemetryPublisher.listen { events.record($0) }
    rig.stream()
    for _ in 0..<40 where rig.stream.state != .stopped {
      rig.run(pictures: 10)
      rig.timekeeper.advance(by: .milliseconds(1100))
    }
    let log = rig.log.values.filter { !$0.hasPrefix("camera") }
    #expect(log.filter { $0.hasPrefix("error") } == ["error timeout"])
    #expect(log.suffix(4) == ["streaming", "error timeout", "stopping", "stopped"])
    #expect(rig.stream.telemetry.stalls == 11)
    #expect(rig.stream.telemetry.recentStalls.allSatisfy { $0.isOver })
    let failures = events.values.compactMap { if case .failed(let failure) = $0.kind { failure } else { nil } }
    #expect(failures.map(\.stage) == [.recovery])
    withExtendedLifetime(token) {}
  }

  @Test("A source that is slower than agreed is no stall for ever: its own interval is learnt")
  func slowSource() throws {
    let rig = try CameraRig()
    rig.stream()
    for _ in 0..<30 {
      rig.glasses.sendPictures()
      rig.timekeeper.advance(by: .milliseconds(1600))
    }
    #expect(rig.stream.state == .streaming)
    #expect(rig.stream.telemetry.stalls < 6)
  }

  @Test("What the state waits for is told before it, and the link's silence with its length (STALL-6)")
  func reasons() throws {
    let rig = try CameraRig()
    let heard = Observed<String>()
    let tokens = ListenerTokenBag()
    rig.stream.telemetryPublisher.listen { event in
      switch event.kind {
      case .waiting(let reason, _): heard.record("for \(reason)")
      case .reconnecting: heard.record("reconnecting")
      case .reconnected: heard.record("reconnected")
      default: break
      }
    }.store(in: tokens)
    rig.stream.statePublisher.listen { heard.record("\($0)") }.store(in: tokens)
    rig.stream()
    rig.glasses.fallSilent()
    rig.timekeeper.advance(by: .milliseconds(2_600))
    #expect(
      heard.values == [
        "for permission", "waitingForDevice", "starting", "streaming", "starting", "reconnecting", "for silentLink",
        "waitingForDevice",
      ])
  }

  @Test("A listener that misses frames is told of at most once a second, with how many")
  func listenerBehind() throws {
    let rig = try CameraRig(StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 24))
    let events = Observed<StreamTelemetryEvent>()
    let token = rig.stream.telemetryPublisher.listen { events.record($0) }
    let drops = ListenerDrops()
    let second = Instant(nanoseconds: 1_000_000_000)
    #expect(drops.missed(1, by: 1, at: Instant(nanoseconds: 0)) == .tell(1))
    #expect(drops.missed(1, by: 2, at: Instant(nanoseconds: 1)) == .tell(1))
    #expect(drops.missed(1, by: 1, at: Instant(nanoseconds: 33_000_000)) == .wait(until: second))
    for n in 2..<30 { #expect(drops.missed(1, by: 1, at: Instant(nanoseconds: Int64(n) * 33_000_000)) == .nothing) }
    #expect(drops.due(1, at: second) == 29)
    #expect(drops.due(1, at: second) == nil)
    #expect(drops.missed(2, by: 1, at: second + .seconds(1)) == .tell(2))
    let listener = rig.stream.videoFramePublisher.listen { _ in }
    rig.stream()
    // More than wait for one listener, all at one moment.
    rig.glasses.sendPictures(80)
    rig.settle()
    let told = events.values.compactMap { if case .listenerBehind(_, let count) = $0.kind { count } else { nil } }
    #expect(told == [1])
    #expect(rig.stream.telemetry.drops.listeners >= 40)
    // The rest comes at the end of the second.
    rig.timekeeper.advance(by: .seconds(1))
    let all = events.values.compactMap { if case .listenerBehind(_, let count) = $0.kind { count } else { nil } }
    #expect(UInt64(all.reduce(0, +)) == rig.stream.telemetry.drops.listeners)
    withExtendedLifetime((token, listener)) {}
  }
}
