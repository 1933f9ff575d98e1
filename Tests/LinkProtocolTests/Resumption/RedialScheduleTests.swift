import LinkProtocol
import Testing
import Units

@Suite struct RedialScheduleTests {
  private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  /// At which of these times a try is due.
  private func due(_ schedule: inout RedialSchedule, _ times: Int64...) -> [Int64] {
    times.filter { schedule.isDue(at: at($0)) }
  }

  @Test("The first connection has one try, and nothing is due before it carries the stream")
  func first() {
    var schedule = RedialSchedule()
    #expect(schedule.nextDeadline == nil)
    schedule.lost(at: at(0))
    #expect(schedule.nextDeadline == nil)
    #expect(due(&schedule, 0, 100_000) == [])
  }

  @Test("A break is followed by a try at once and then each half second; 2.5 s of quiet by one beside the old")
  func tries() {
    var schedule = RedialSchedule()
    let first = schedule.cameUp(at: at(0))
    #expect(first)
    schedule.heard(at: at(10))
    #expect(schedule.nextDeadline == at(2510))
    #expect(due(&schedule, 2509) == [])
    schedule.heard(at: at(2000))
    schedule.lost(at: at(2100))
    #expect(due(&schedule, 2100, 2599, 2600) == [2100, 2600])
    schedule.heard(at: at(2700))
    #expect(schedule.nextDeadline == at(5200))
    #expect(due(&schedule, 5200) == [5200])
    #expect(schedule.nextDeadline == at(5700))
    // The old one speaks again.
    schedule.heard(at: at(5300))
    #expect(schedule.nextDeadline == at(7800))
    schedule.end()
    schedule.heard(at: at(5400))
    #expect(schedule.nextDeadline == nil)
    let asks = schedule.cameUp(at: at(5500))
    #expect(!asks)
  }

  @Test("A try that is up has two seconds to carry on, and no other comes between")
  func asking() {
    var schedule = RedialSchedule()
    var asks = schedule.cameUp(at: at(0))
    #expect(asks)
    schedule.heard(at: at(0))
    asks = schedule.cameUp(at: at(10))
    #expect(!asks, "the stream has a connection")
    schedule.lost(at: at(100))
    #expect(due(&schedule, 100) == [100])
    asks = schedule.cameUp(at: at(300))
    #expect(asks)
    asks = schedule.cameUp(at: at(301))
    #expect(!asks)
    #expect(due(&schedule, 2299, 2300) == [2300])
    asks = schedule.cameUp(at: at(2400))
    #expect(asks)
    schedule.lost(at: at(2450))
    #expect(due(&schedule, 2450) == [2450], "one that breaks while it asks is followed at once")
  }
}
