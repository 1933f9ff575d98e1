import LinkProtocol
import LinkTransport
import TestSupport
import Testing

@testable import MWDATCore

@Suite("Lanes that move", .timeLimit(.minutes(5)))
struct RelocatableLaneTests {
  @Test("What was queued goes along, in order, though the old clock stands still")
  func move() {
    let old = ManualTimekeeper()
    let new = ManualTimekeeper()
    let lane = RelocatableLane(name: "test", timekeeper: old)
    let done = Observed<Int>()
    for number in 1...3 { lane.run { done.record(number) } }
    lane.move(to: new)
    old.settle()
    #expect(done.values.isEmpty)
    new.settle()
    #expect(done.values == [1, 2, 3])
    lane.run { done.record(4) }
    new.settle()
    #expect(done.values == [1, 2, 3, 4])
  }

  @Test("What runs on the old lane ends before the next begins on the new one")
  func noOverlap() async throws {
    let old = SystemTimekeeper()
    let new = ManualTimekeeper()
    let lane = RelocatableLane(name: "test", timekeeper: old)
    let gate = Gate()
    let events = Observed<String>()
    lane.run {
      events.record("first began")
      gate.wait()
      events.record("first ended")
    }
    try await events.wait { !$0.isEmpty }
    lane.move(to: new)
    lane.run { events.record("second") }
    new.settle()
    #expect(events.values == ["first began"])
    gate.open()
    try await events.wait { $0.count == 2 }
    // The turn moves on when the first has returned, a moment after its last record. The time limit bounds this.
    while events.values.count < 3 {
      try Task.checkCancellation()
      await Task.yield()
      new.settle()
    }
    #expect(events.values == ["first began", "first ended", "second"])
  }

  @Test("After end() nothing begins")
  func end() {
    let timekeeper = ManualTimekeeper()
    let lane = RelocatableLane(name: "test", timekeeper: timekeeper)
    let done = Observed<Int>()
    lane.run { done.record(1) }
    lane.end()
    lane.run { done.record(2) }
    lane.move(to: timekeeper)
    timekeeper.settle()
    #expect(done.values.isEmpty)
  }
}
