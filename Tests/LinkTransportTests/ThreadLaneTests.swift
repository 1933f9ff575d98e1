import LinkProtocol
import LinkTransport
import TestSupport
import Testing
import Units

@Suite("Thread lanes")
struct ThreadLaneTests {
  private let timekeeper = SystemTimekeeper.shared

  /// Tells when it is released.
  private final class Witness: Sendable {
    private let released: @Sendable () -> Void
    init(_ released: @escaping @Sendable () -> Void) { self.released = released }
    deinit { released() }
  }

  @Test("run everything once, in order, never overlapping, from any number of threads")
  func order() async throws {
    let lane = timekeeper.makeLane("order")
    defer { lane.end() }
    let observed = Observed<(caller: Int, number: Int)>()
    let detector = OverlapDetector()
    await withTaskGroup { group in
      for caller in 0..<8 {
        group.addTask {
          for number in 0..<500 {
            lane.run { detector.run { observed.record((caller, number)) } }
          }
        }
      }
    }
    try await observed.wait { $0.count == 4000 }
    #expect(detector.overlaps == 0)
    for caller in 0..<8 {
      #expect(observed.values.filter { $0.caller == caller }.map(\.number) == Array(0..<500))
    }
  }

  @Test("begin deadline work no earlier than its deadline, by deadline, equal ones in order")
  func deadlines() async throws {
    let lane = timekeeper.makeLane("deadlines")
    defer { lane.end() }
    let observed = Observed<Int>()
    let early = Counter()
    let start = timekeeper.now
    for (number, milliseconds) in [(3, 30), (1, 10), (4, 30), (2, 20), (0, -5)] {
      let deadline = start + .milliseconds(milliseconds)
      lane.run(at: deadline) { [timekeeper] in
        if timekeeper.now < deadline { early.add() }
        observed.record(number)
      }
    }
    try await observed.wait { $0.count == 5 }
    #expect(observed.values == [0, 1, 2, 3, 4])
    #expect(early.value == 0)
  }

  @Test("a flood of ready work does not keep due work from running, nor the other way round")
  func fairness() async throws {
    let lane = timekeeper.makeLane("fairness")
    defer { lane.end() }
    let done = Observed<String>()
    // By the lane itself: this task may wait for its turn behind every other test, and the flood takes a processor.
    let passed = Counter()
    @Sendable func flood() {
      guard passed.value < 2 else { return }
      lane.run { flood() }
    }
    @Sendable func tick() {
      guard passed.value < 2 else { return }
      lane.run(at: SystemTimekeeper.shared.now) { tick() }
    }
    @Sendable func pass(_ kind: String) {
      passed.add()
      done.record(kind)
    }
    flood()
    tick()
    lane.run(at: timekeeper.now + .milliseconds(5)) { pass("due") }
    lane.run { pass("ready") }
    try await done.wait { $0.count == 2 }
  }

  @Test("after end begin nothing, and let go of what waited")
  func end() async throws {
    let lane = timekeeper.makeLane("end")
    let observed = Observed<String>()
    let released = Observed<String>()
    // A timer that is kept must not keep the work.
    let kept = lane.run(at: .distantFuture) { [witness = Witness { released.record("timer") }] in
      withExtendedLifetime(witness) { observed.record("timer") }
    }
    lane.run {
      // While this runs the rest can only wait.
      lane.run { [witness = Witness { released.record("ready") }] in
        withExtendedLifetime(witness) { observed.record("ready") }
      }
      lane.end()
      observed.record("ended")
    }
    try await observed.wait { $0 == ["ended"] }
    try await released.wait { Set($0) == ["timer", "ready"] }
    lane.run { observed.record("late") }
    let timer = lane.run(at: timekeeper.now) { observed.record("late") }
    #expect(timer.isSpent && kept.isSpent)
    lane.end()
    #expect(observed.values == ["ended"])
  }

  @Test("a cancelled deadline never runs and is let go at once")
  func cancel() async throws {
    let lane = timekeeper.makeLane("cancel")
    defer { lane.end() }
    let released = Observed<Bool>()
    let ran = Counter()
    let timer = lane.run(at: timekeeper.now + .milliseconds(20)) { [witness = Witness { released.record(true) }] in
      withExtendedLifetime(witness) { ran.add() }
    }
    timer.cancel()
    #expect(released.values == [true])
    let after = Observed<Bool>()
    lane.run(at: timekeeper.now + .milliseconds(40)) { after.record(true) }
    try await after.wait { !$0.isEmpty }
    #expect(ran.value == 0)
  }

  @Test("a thread is gone when its lane has been idle, and another takes over at the next work")
  func idle() async throws {
    let timekeeper = SystemTimekeeper(threadIdleLimit: .milliseconds(20))
    let lane = timekeeper.makeLane("idle lane test")
    defer { lane.end() }
    let observed = Observed<Int>()
    #expect(ProcessResources.now().threads(named: "idle lane test").isEmpty)
    for round in 0..<3 {
      lane.run { observed.record(round) }
      try await observed.wait { $0.last == round }
      let after = await ProcessResources.settled { $0.threads(named: "idle lane test").isEmpty }
      #expect(after.threads(named: "idle lane test").isEmpty)
    }
    // With a deadline to come it stays.
    lane.run(at: timekeeper.now + .milliseconds(100)) { observed.record(9) }
    try await observed.wait { $0.last == 9 }
  }

  @Test("a thousand lanes that worked leave no thread")
  func thousand() async throws {
    let observed = Observed<Int>()
    for number in 0..<1000 {
      let lane = timekeeper.makeLane("of a thousand")
      lane.run(at: .distantFuture) {}
      lane.run { observed.record(number) }
      lane.run { lane.end() }
      // A few dozen at a time.
      if number % 50 == 49 { try await observed.wait { $0.count == number + 1 } }
    }
    let after = await ProcessResources.settled { $0.threads(named: "of a thousand").isEmpty }
    #expect(after.threads(named: "of a thousand").isEmpty, "\(after)")
  }

  @Test("sleep ends when its lane does")
  func sleepEnds() async {
    let lane = timekeeper.makeLane("sleep")
    let sleeper = Task { [timekeeper] in await timekeeper.sleep(until: .distantFuture, on: lane) }
    lane.run { lane.end() }
    await sleeper.value
  }
}
