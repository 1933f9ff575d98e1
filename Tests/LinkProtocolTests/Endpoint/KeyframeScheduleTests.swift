import LinkProtocol
import Testing
import Units

@Suite("Keyframe schedule")
struct KeyframeScheduleTests {
  private let start = Instant(nanoseconds: 1_000_000_000)

  private func at(_ milliseconds: Int) -> Instant { start + .milliseconds(milliseconds) }

  /// When requests leave, in milliseconds, up to `end`.
  private func requests(_ schedule: inout KeyframeSchedule, until end: Int) -> [Int] {
    var asked: [Int] = []
    while let deadline = schedule.nextDeadline, deadline <= at(end) {
      let early = schedule.timeout(at: deadline - .nanoseconds(1))
      #expect(early == nil)
      if schedule.timeout(at: deadline) != nil { asked.append(Int((deadline - start).milliseconds)) }
    }
    return asked
  }

  @Test("asks at once, then after 150, 300 and 600 ms, then every 0.7 s, whatever arrives (LOSS-2)")
  func backOff() {
    var schedule = KeyframeSchedule()
    #expect(schedule.nextDeadline == nil)
    schedule.want(.loss, at: start)
    #expect(requests(&schedule, until: 5000) == [0, 150, 450, 1050, 1750, 2450, 3150, 3850, 4550])
  }

  @Test("a sync unit ends it, and the next gap begins anew")
  func begins() {
    var schedule = KeyframeSchedule()
    schedule.want(.loss, at: start)
    #expect(requests(&schedule, until: 1200) == [0, 150, 450, 1050])
    schedule.arrived()
    #expect(schedule.nextDeadline == nil)
    #expect(requests(&schedule, until: 10_000) == [])
    schedule.want(.loss, at: at(10_000))
    #expect(requests(&schedule, until: 10_200) == [10_000, 10_150])
  }

  @Test("a wish within 100 ms of an answered request is not forgotten: it leaves at 100 ms (LOSS-2)")
  func spacing() {
    var schedule = KeyframeSchedule()
    schedule.want(.loss, at: start)
    #expect(requests(&schedule, until: 0) == [0])
    schedule.arrived()
    schedule.want(.lateListener, at: at(40))
    #expect(schedule.nextDeadline == at(100))
    #expect(requests(&schedule, until: 240) == [100])
  }

  @Test("many that wish at the same time are one request")
  func shared() {
    var schedule = KeyframeSchedule()
    for moment in stride(from: 0, through: 90, by: 10) {
      schedule.want(.application, at: at(moment))
      _ = schedule.timeout(at: at(moment))
    }
    #expect(schedule.nextDeadline == at(150))
  }

  @Test("a wish during a long pause between two requests does not wait for its end (LOSS-5)")
  func impatient() {
    var schedule = KeyframeSchedule()
    schedule.want(.loss, at: start)
    #expect(requests(&schedule, until: 1200) == [0, 150, 450, 1050])
    schedule.want(.lateListener, at: at(1300))
    let reason = schedule.timeout(at: at(1300))
    #expect(reason == .lateListener)
    // And costs no more than ten requests a second, however often it is repeated.
    var asked = 0
    for moment in 1300..<2300 {
      schedule.want(.application, at: at(moment))
      if schedule.timeout(at: at(moment)) != nil { asked += 1 }
    }
    #expect(asked <= 10)
  }
}
