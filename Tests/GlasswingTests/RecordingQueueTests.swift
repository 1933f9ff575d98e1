import TestSupport
import Testing
import Units

@testable import Glasswing

@Suite("The queue in front of the recorder's disk")
struct RecordingQueueTests {
  private let start = Instant(nanoseconds: 0)

  private func queue(bytes: Int = 100, span: Duration = .seconds(1)) -> RecordingQueue<Int> {
    RecordingQueue(limits: .init(span: span, bytes: .bytes(bytes)))
  }

  @Test("REC-2: nothing is taken before the first sync sample")
  func waitsForSync() {
    var queue = queue()
    #expect(queue.offer(1, bytes: 10, isSync: false, at: start) == .needsSync)
    #expect(queue.offer(2, bytes: 10, isSync: true, at: start) == .queued)
    #expect(queue.offer(3, bytes: 10, isSync: false, at: start) == .queued)
    #expect(queue.take() == 2)
    #expect(queue.take() == 3)
    #expect(queue.take() == nil)
    #expect(queue.offered == 3)
    #expect(queue.dropped == 1)
  }

  @Test("A full queue keeps what it has, and drops newcomers up to the next sync sample that fits")
  func dropsToNextSync() {
    var queue = queue(bytes: 25)
    #expect(queue.offer(1, bytes: 10, isSync: true, at: start) == .queued)
    #expect(queue.offer(2, bytes: 10, isSync: false, at: start) == .queued)
    #expect(queue.offer(3, bytes: 10, isSync: false, at: start) == .overflow)
    #expect(queue.offer(4, bytes: 1, isSync: false, at: start) == .needsSync, "it depends on the one dropped")
    #expect(queue.offer(5, bytes: 10, isSync: true, at: start) == .overflow, "there is still no room")
    #expect(queue.take() == 1)
    #expect(queue.offer(6, bytes: 1, isSync: false, at: start) == .needsSync)
    #expect(queue.offer(7, bytes: 10, isSync: true, at: start) == .queued)
    #expect([queue.take(), queue.take(), queue.take()] == [2, 7, nil])
    #expect(queue.offered == 7)
    #expect(queue.dropped == 4)
  }

  @Test("It is full, too, when its oldest entry waits longer than the limit")
  func boundedByTime() {
    var queue = queue(span: .seconds(1))
    #expect(queue.offer(1, bytes: 1, isSync: true, at: start) == .queued)
    #expect(queue.offer(2, bytes: 1, isSync: false, at: start + .seconds(1)) == .queued)
    #expect(queue.offer(3, bytes: 1, isSync: false, at: start + .milliseconds(1001)) == .overflow)
  }

  @Test("A sample larger than the limit is taken when nothing waits, so that it can't stop a recording for ever")
  func largeSample() {
    var queue = queue(bytes: 25)
    #expect(queue.offer(1, bytes: 1000, isSync: true, at: start) == .queued)
    #expect(queue.offer(2, bytes: 1, isSync: false, at: start) == .overflow)
    #expect(queue.take() == 1)
    #expect(queue.offer(3, bytes: 1, isSync: true, at: start) == .queued)
  }

  @Test("REC-5: what goes in is taken out or counted as dropped, whatever comes in whatever order")
  func countsAddUp() {
    var generator = SeededGenerator(seed: 5)
    var queue = queue(bytes: 200, span: .milliseconds(50))
    var taken = 0
    var refused = 0
    for step in 0..<5000 {
      let now = start + .milliseconds(step)
      _ = queue.offer(
        step, bytes: Int.random(in: 1...60, using: &generator), isSync: Int.random(in: 0..<10, using: &generator) == 0,
        at: now)
      if Bool.random(using: &generator), queue.take() != nil { taken += 1 }
      if Int.random(in: 0..<100, using: &generator) == 0, queue.take() != nil {
        queue.refuse()
        refused += 1
      }
    }
    queue.removeAll(butFor: taken)
    #expect(queue.offered == taken + queue.dropped)
    #expect(refused > 0 && taken > 0)
  }

  @Test("Behind a unit that could not be written everything goes up to the next sync unit")
  func refusal() {
    var queue = RecordingQueue<Int>(limits: .init(span: .seconds(5), bytes: .bytes(1000)))
    let start = Instant(nanoseconds: 0)
    for unit in 0..<6 { _ = queue.offer(unit, bytes: 10, isSync: unit == 0 || unit == 4, at: start) }
    #expect(queue.take() == 0)
    queue.refuse()
    #expect(queue.dropped == 4)
    #expect(queue.take() == 4)
    #expect(queue.offer(6, bytes: 10, isSync: false, at: start) == .queued)
    queue.refuse()
    #expect(queue.dropped == 7 && queue.isEmpty)
    #expect(queue.offer(7, bytes: 10, isSync: false, at: start) == .needsSync)
    // Nothing of it was written: all that was offered is dropped.
    queue.removeAll(butFor: 0)
    #expect(queue.dropped == queue.offered)
  }
}
