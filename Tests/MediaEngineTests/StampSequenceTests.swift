import Testing
import Units

@testable import MediaEngine

@Suite struct StampSequenceTests {
  private func instant(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  private func sequence() -> StampSequence { StampSequence(timescale: 1000, frameInterval: .milliseconds(40)) }

  @Test("stamps begin at 0 and keep their distances")
  func plain() {
    var stamps = sequence()
    #expect([5000, 5040, 5041, 5500].map { stamps.next(instant($0)) } == [0, 40, 41, 500])
    #expect(stamps.repairs == 0)
  }

  @Test("REC-3: equal and backward stamps rise by no more than a frame's move")
  func backward() {
    for back in stride(from: Int64(0), to: 40, by: 1) {
      var stamps = sequence()
      _ = stamps.next(instant(1000))
      let tick = stamps.next(instant(1000 - back))
      #expect(tick > 0)
      #expect(tick + back <= 40)
      #expect(stamps.next(instant(1040)) == 40 || tick == 40)
      #expect(stamps.repairs >= 1)
    }
  }

  @Test("REC-3: missing stamps count on by a frame, also at the beginning")
  func missing() {
    var stamps = sequence()
    let times: [Instant?] = [nil, nil, instant(9000), instant(9040), nil, instant(9120)]
    #expect(times.map { stamps.next($0) } == [0, 40, 80, 120, 160, 200])
    #expect(stamps.repairs == 3)
  }

  @Test("a clock that starts anew, behind or far ahead, goes on a frame later")
  func restart() {
    var stamps = sequence()
    #expect([0, 40, 80].map { stamps.next(instant($0)) } == [0, 40, 80])
    #expect([-1_000_000, -999_960].map { stamps.next(instant($0)) } == [120, 160])
    #expect([9_000_000_000, 9_000_000_040].map { stamps.next(instant($0)) } == [200, 240])
    #expect(stamps.repairs == 2)
  }

  @Test("REC-3: a single stamp that is far behind or ahead moves no later one")
  func singleOutlier() {
    for outlier: Int64 in [-1_000_000, 0, 60, 9_000_000_000] {
      var stamps = sequence()
      #expect([1000, 1040, 1080].map { stamps.next(instant($0)) } == [0, 40, 80])
      #expect(stamps.next(instant(outlier)) == 120)
      #expect([1160, 1200, 1240].map { stamps.next(instant($0)) } == [160, 200, 240])
      #expect(stamps.repairs == 1)
    }
  }

  @Test("no stamp traps")
  func extremes() {
    let times = [Instant.distantPast, .distantFuture, .distantPast, Instant(nanoseconds: 0), .distantFuture]
    for first in times {
      var stamps = StampSequence(timescale: 90_000, frameInterval: .milliseconds(40))
      var last: Int64 = -1
      for time in [first] + times {
        let tick = stamps.next(time)
        #expect(tick > last)
        last = tick
      }
    }
    #expect(StampSequence(timescale: 1000, frameInterval: .zero).frame == 1)
  }

  @Test("times are rounded to the nearest tick")
  func rounding() {
    #expect(StampSequence.ticks(.nanoseconds(5555), 90_000) == 0)
    #expect(StampSequence.ticks(.nanoseconds(5556), 90_000) == 1)
    #expect(StampSequence.ticks(.nanoseconds(-5556), 90_000) == -1)
    #expect(StampSequence.ticks(.seconds(3600), 90_000) == 324_000_000)
    #expect(StampSequence.duration(3, 90_000) == .nanoseconds(33333))
  }
}
