import MediaEngine
import Testing
import Units

@testable import GlassesAgent

/// When samples are captured.
@Suite("The clock of samples")
struct SampleClockTests {
  private let start = Instant(nanoseconds: 123_456_789)

  @Test(
    "in step, a block begins exactly 20 ms after the one before, after days as at first",
    arguments: [16_000, 44_100, 48_000])
  func nominal(rate: Int) {
    let clock = SampleClock(rate: rate, start: start)
    #expect(clock.isNominal && clock.step == 1)
    for block in [0, 1, 49, 50, 1_000_003, 86_400 * 50 * 30] {
      let index = block * rate / 50
      #expect(clock.moment(of: index) == start + .milliseconds(20 * Int64(block)))
      #expect(clock.index(nearest: clock.moment(of: index)) == index)
      #expect(clock.index(from: clock.moment(of: index)) == index)
      #expect(clock.index(from: clock.moment(of: index) + .nanoseconds(1)) == index + 1)
    }
    #expect(clock.index(nearest: start - .seconds(1)) == -rate)
    let between = clock.moment(of: 100) + .nanoseconds(400_000_000 / Int64(rate))
    #expect(clock.index(nearest: between) == 100)
    #expect(clock.index(from: between) == 101)
  }

  @Test("out of step, it gives so many more samples in a second, and goes on from where it is when that changes")
  func skewed() {
    var clock = SampleClock(rate: 48_000, start: start, partsPerMillion: 300)
    #expect(!clock.isNominal)
    #expect(clock.index(nearest: start + .seconds(1000)) == 48_000_000 + 14_400)
    let moment = clock.moment(of: 1_000_000)
    clock.change(partsPerMillion: -300, from: 1_000_000)
    #expect(clock.moment(of: 1_000_000) == moment)
    #expect(clock.index(nearest: moment + .seconds(100)) == 1_000_000 + 4_800_000 - 1440)
    clock.change(partsPerMillion: 0, from: 1_000_000)
    #expect(clock.isNominal)
    #expect(clock.moment(of: 1_000_000 + 48_000) == moment + .seconds(1))
  }

  @Test("times from the other end of time are held at the bounds")
  func bounds() {
    for skew in [0.0, 100] {
      let clock = SampleClock(rate: 48_000, start: start, partsPerMillion: skew)
      #expect(clock.index(from: .distantFuture) > 1_000_000_000_000)
      #expect(clock.index(nearest: .distantPast) < -1_000_000_000_000)
      #expect(clock.moment(of: .max) > start && clock.moment(of: .min) < start)
    }
  }
}
