import LinkProtocol
import LinkTransport
import MWDATCore
import TestSupport
import Testing

@Suite("Announcers of frames", .timeLimit(.minutes(5)))
struct FrameBroadcasterTests {
  let timekeeper = ManualTimekeeper()

  func broadcaster(limit: Int = 3) -> FrameBroadcaster<Int> {
    FrameBroadcaster(name: "frames", timekeeper: timekeeper, limit: limit)
  }

  @Test("A busy listener gets the newest frames; the others are dropped and counted (STALL-5)")
  func newestWins() {
    let announcer = broadcaster()
    let heard = Observed<Int>()
    let token = announcer.listen { heard.record($0) }
    for value in 1...10 { announcer.send(value) }
    timekeeper.settle()
    #expect(heard.values == [8, 9, 10])
    #expect(announcer.listenerStatistics.map(\.counts.delivered) == [3])
    #expect(announcer.listenerStatistics.map(\.counts.dropped) == [7])
    announcer.send(11)
    timekeeper.settle()
    #expect(heard.values == [8, 9, 10, 11])
    withExtendedLifetime(token) {}
  }

  @Test("A listener that blocks costs the others nothing (STALL-5)")
  func isolation() async throws {
    let announcer = FrameBroadcaster<Int>(name: "frames", timekeeper: SystemTimekeeper())
    let gate = Gate()
    let stuck = Observed<Int>()
    let healthy = Observed<Int>()
    let a = announcer.listen { value in
      stuck.record(value)
      gate.wait()
    }
    let b = announcer.listen { healthy.record($0) }
    for value in 0..<50 {
      announcer.send(value)
      try await healthy.wait { $0.last == value }
    }
    #expect(healthy.values == Array(0..<50))
    #expect(stuck.values.count <= 1)
    #expect(announcer.listenerStatistics.last?.counts.dropped == 0)
    gate.open()
    await a.cancel()
    await b.cancel()
    #expect(announcer.statistics.dropped >= 46)
  }

  @Test("Cancelling frees what waited, ends the lane, and no call begins after it")
  func cancelFrees() async {
    let announcer = FrameBroadcaster<Marker>(name: "frames", timekeeper: timekeeper)
    let heard = Observed<Int>()
    let token = announcer.listen { _ in heard.record(0) }
    weak var waiting: Marker?
    do {
      let frame = Marker()
      waiting = frame
      announcer.send(frame)
    }
    #expect(waiting != nil)
    await token.cancel()
    #expect(waiting == nil)
    timekeeper.settle()
    #expect(heard.values.isEmpty)
    #expect(!announcer.hasListeners)
    #expect(announcer.statistics.dropped == 1)
  }

  @Test("A listener that cancels itself hears nothing more, though frames wait")
  func cancelInside() {
    let announcer = broadcaster()
    let heard = Observed<Int>()
    let slot = TokenSlot()
    slot.hold(
      announcer.listen { value in
        heard.record(value)
        slot.drop()
      })
    for value in 1...3 { announcer.send(value) }
    timekeeper.settle()
    #expect(heard.values == [1])
  }

  @Test("It says which listener loses how many, each time, and nothing of what waited for one that left (STALL-5)")
  func tellsDrops() async {
    let announcer = broadcaster(limit: 2)
    let told = Observed<[Int]>()
    announcer.onDrops { listener, count in told.record([listener, count]) }
    let first = announcer.listen { _ in }
    announcer.send(0)
    await first.cancel()
    let second = announcer.listen { _ in }
    let third = announcer.subscribe { $0 == 12 ? .missed : $0 == 13 ? .passed : .heard }
    for value in 11...13 { announcer.send(value) }
    timekeeper.settle()
    #expect(told.values == [[2, 1], [3, 1], [3, 1]])
    #expect(announcer.listenerStatistics.map(\.number) == [2, 3])
    #expect(announcer.listenerStatistics.map(\.counts.delivered) == [2, 0])
    #expect(announcer.listenerStatistics.map(\.counts.dropped) == [1, 2])
    #expect(announcer.statistics.dropped == 4)
    announcer.onDrops(nil)
    for value in 14...20 { announcer.send(value) }
    #expect(told.values.count == 3)
    withExtendedLifetime((second, third)) {}
  }

  @Test("It says when listeners come and go")
  func listenersChange() async {
    let announcer = broadcaster()
    let changes = Observed<Bool>()
    announcer.onListenersChanged { [weak announcer] _ in changes.record(announcer?.hasListeners ?? false) }
    let a = announcer.listen { _ in }
    let b = announcer.listen { _ in }
    await a.cancel()
    await a.cancel()
    await b.cancel()
    #expect(changes.values == [true, true, true, false])
  }

  @Test("A frame that was sent when nobody listened is gone")
  func nobodyListens() {
    let announcer = broadcaster()
    announcer.send(1)
    let heard = Observed<Int>()
    let token = announcer.listen { heard.record($0) }
    announcer.send(2)
    timekeeper.settle()
    #expect(heard.values == [2])
    withExtendedLifetime(token) {}
  }

  @Test("When the announcer goes, its listeners' lanes end")
  func release() {
    var announcer: FrameBroadcaster<Int>? = broadcaster()
    let heard = Observed<Int>()
    let token = announcer?.listen { heard.record($0) }
    announcer?.send(1)
    announcer = nil
    timekeeper.settle()
    #expect(heard.values.isEmpty)
    withExtendedLifetime(token) {}
  }
}
