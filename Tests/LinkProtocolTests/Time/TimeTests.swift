import LinkProtocol
import Synchronization
import TestSupport
import Testing
import Units

@Suite("Deadline heap")
struct DeadlineHeapTests {
  @Test("gives out by deadline, equal ones in their order", arguments: 0..<20)
  func order(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var heap = DeadlineHeap<Int>()
    var model: [(deadline: Int64, value: Int)] = []
    for value in 0..<200 {
      let deadline = Int64.random(in: 0..<40, using: &generator)
      heap.insert(value, at: Instant(nanoseconds: deadline))
      model.append((deadline, value))
    }
    let removed = heap.remove { $0 % 7 == 0 }
    #expect(removed.sorted() == model.map(\.value).filter { $0 % 7 == 0 })
    model.removeAll { $0.value % 7 == 0 }
    model.sort { ($0.deadline, $0.value) < ($1.deadline, $1.value) }
    #expect(heap.count == model.count)
    var out: [Int] = []
    for now in Int64(0)..<40 {
      while let value = heap.popDue(at: Instant(nanoseconds: now)) { out.append(value) }
      if let earliest = heap.earliest { #expect(earliest > Instant(nanoseconds: now)) }
    }
    #expect(out == model.map(\.value))
    #expect(heap.isEmpty)
  }

  @Test("gives the first out by a condition as well")
  func conditional() {
    var heap = DeadlineHeap<Int>()
    heap.insert(1, at: .distantFuture)
    let refused = heap.popFirst { $0 == 2 }
    #expect(refused == nil)
    let taken = heap.popFirst { $0 == 1 }
    #expect(taken == 1)
  }
}

@Suite("Manual timekeeper")
struct ManualTimekeeperTests {
  private final class Log: Sendable {
    private let entries = Mutex<[String]>([])
    func add(_ entry: String) { entries.withLock { $0.append(entry) } }
    var all: [String] { entries.withLock { $0 } }
  }

  /// Tells when it is released.
  private final class Witness: Sendable {
    private let log: Log
    init(_ log: Log) { self.log = log }
    deinit { log.add("released") }
  }

  @Test("runs ready work in the order of the calls, across lanes, and only inside advance")
  func ready() {
    let timekeeper = ManualTimekeeper()
    let log = Log()
    let (a, b) = (timekeeper.makeLane("a"), timekeeper.makeLane("b"))
    a.run { log.add("a1") }
    b.run { log.add("b1") }
    a.run {
      log.add("a2")
      b.run { log.add("b3") }
    }
    b.run { log.add("b2") }
    #expect(log.all.isEmpty)
    timekeeper.settle()
    #expect(log.all == ["a1", "b1", "a2", "b2", "b3"])
  }

  @Test("stands at each deadline while its work runs, and at the target in the end")
  func deadlines() {
    let timekeeper = ManualTimekeeper(start: Instant(nanoseconds: 0), wallClockSeconds: 100)
    let log = Log()
    let lane = timekeeper.makeLane("lane")
    for milliseconds in [30, 10, 20, 10] {
      lane.run(at: Instant(nanoseconds: Int64(milliseconds) * 1_000_000)) {
        log.add("\(milliseconds) at \(timekeeper.now.nanoseconds / 1_000_000)")
        if milliseconds == 10 { lane.run { log.add("then at \(timekeeper.now.nanoseconds / 1_000_000)") } }
      }
    }
    timekeeper.advance(by: .milliseconds(25))
    #expect(log.all == ["10 at 10", "then at 10", "10 at 10", "then at 10", "20 at 20"])
    #expect(timekeeper.now == Instant(nanoseconds: 25_000_000))
    #expect(timekeeper.wallClockSeconds == 100.025)
    timekeeper.advance(by: .milliseconds(5))
    #expect(log.all.last == "30 at 30")
    // A deadline in the past is due now; the clock stays.
    lane.run(at: Instant(nanoseconds: 1)) { log.add("late at \(timekeeper.now.nanoseconds / 1_000_000)") }
    timekeeper.settle()
    #expect(log.all.last == "late at 30")
  }

  @Test("lets go of cancelled work and of an ended lane's work at once")
  func letsGo() {
    let timekeeper = ManualTimekeeper()
    let log = Log()
    let lane = timekeeper.makeLane("lane")
    let timer = lane.run(at: .distantFuture) { [witness = Witness(log)] in withExtendedLifetime(witness) {} }
    timer.cancel()
    #expect(log.all == ["released"])
    #expect(timer.isSpent)
    lane.run { [witness = Witness(log)] in withExtendedLifetime(witness) {} }
    let kept = lane.run(at: .distantFuture) { [witness = Witness(log)] in withExtendedLifetime(witness) {} }
    lane.end()
    lane.end()
    #expect(log.all.count == 3)
    #expect(kept.isSpent)
    lane.run { log.add("ran") }
    lane.run(at: timekeeper.now) { log.add("ran") }
    timekeeper.advance(by: .seconds(1))
    #expect(!log.all.contains("ran"))
  }

  @Test("a lane may end itself, also with work waiting behind")
  func endsItself() {
    let timekeeper = ManualTimekeeper()
    let log = Log()
    let lane = timekeeper.makeLane("lane")
    lane.run {
      log.add("first")
      lane.end()
    }
    lane.run { log.add("second") }
    timekeeper.settle()
    #expect(log.all == ["first"])
  }

  @Test("two callers of advance take turns")
  func concurrentAdvance() async {
    let timekeeper = ManualTimekeeper(start: Instant(nanoseconds: 0))
    let detector = OverlapDetector()
    let ran = Counter()
    let lane = timekeeper.makeLane("lane")
    for index in 0..<200 {
      lane.run(at: Instant(nanoseconds: Int64(index))) { detector.run { ran.add() } }
    }
    await withTaskGroup { group in
      for _ in 0..<10 { group.addTask { timekeeper.advance(by: .nanoseconds(20)) } }
    }
    #expect(detector.overlaps == 0)
    #expect(ran.value == 200)
    #expect(timekeeper.now == Instant(nanoseconds: 200))
  }

  @Test("sleep ends at its deadline, on cancellation, and with its lane")
  func sleep() async {
    let timekeeper = ManualTimekeeper()
    let lane = timekeeper.makeLane("lane")
    let deadline = timekeeper.now + .seconds(5)
    async let slept: Void = timekeeper.sleep(until: deadline, on: lane)
    // The sleeper may come to its lane after any of these.
    let sleeper = Task { while timekeeper.now < deadline { timekeeper.advance(by: .seconds(1)); await Task.yield() } }
    await sleeper.value
    timekeeper.settle()
    await Task.yield()
    let pump = Task { while !Task.isCancelled { timekeeper.settle(); await Task.yield() } }
    await slept
    pump.cancel()

    let cancelled = Task { await timekeeper.sleep(until: .distantFuture, on: lane) }
    cancelled.cancel()
    await cancelled.value

    let ended = timekeeper.makeLane("ended")
    let waiting = Task { await timekeeper.sleep(until: .distantFuture, on: ended) }
    await Task.yield()
    ended.end()
    await waiting.value
  }
}

@Suite("Resume once")
struct ResumeOnceTests {
  @Test("the first value wins, before or after the continuation is stored")
  func first() async {
    let early = ResumeOnce<Int>()
    #expect(early.resume(with: 1))
    #expect(!early.resume(with: 2))
    #expect(await withCheckedContinuation { early.store($0) } == 1)

    for _ in 0..<200 {
      let gate = ResumeOnce<Int>()
      async let value = withCheckedContinuation { gate.store($0) }
      let winners = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<4 { group.addTask { gate.resume(with: number) } }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(winners == 1)
      #expect((0..<4).contains(await value))
    }
  }
}
