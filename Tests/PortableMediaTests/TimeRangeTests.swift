import Glibc
import PortableMedia
import Testing

private func seconds(_ value: Int64) -> CMTime { CMTime(value: value, timescale: 1) }
private func range(_ start: Int64, _ end: Int64) -> CMTimeRange {
  CMTimeRange(start: seconds(start), end: seconds(end))
}

@Suite("Time ranges")
struct TimeRangeTests {
  @Test("A range ends where its duration says, and holds its start but not its end")
  func ends() {
    let range = CMTimeRangeMake(start: seconds(2), duration: seconds(3))
    #expect(range.end == seconds(5) && range.isValid && !range.isEmpty)
    #expect(range.containsTime(seconds(2)) && range.containsTime(CMTime(value: 49, timescale: 10)))
    #expect(!range.containsTime(seconds(5)) && !range.containsTime(seconds(1)) && !range.containsTime(.invalid))
  }

  @Test("Negative, epoch-bound and invalid durations make no range")
  func invalidRanges() {
    #expect(!CMTimeRangeMake(start: .zero, duration: seconds(-1)).isValid)
    #expect(!CMTimeRange(start: seconds(5), end: seconds(2)).isValid)
    #expect(!CMTimeRangeMake(start: .invalid, duration: seconds(1)).isValid)
    let bound = CMTimeMakeWithEpoch(value: 1, timescale: 1, epoch: 1)
    #expect(!CMTimeRange(start: .zero, duration: bound).isValid)
    #expect(!CMTimeRange.invalid.isValid && !CMTimeRangeGetEnd(.invalid).isValid)
    #expect(!range(0, 1).union(.invalid).isValid && !range(0, 1).intersection(.invalid).isValid)
    #expect(!range(0, 1).containsTimeRange(.invalid) && !CMTimeRange.invalid.containsTime(.zero))
    #expect(CMTIMERANGE_IS_INVALID(kCMTimeRangeInvalid) && CMTIMERANGE_IS_EMPTY(kCMTimeRangeZero))
  }

  @Test("Union spans both ranges, intersection is what both have")
  func combine() {
    #expect(range(0, 3).union(range(2, 5)) == range(0, 5))
    #expect(range(0, 1).union(range(4, 5)) == range(0, 5))
    #expect(range(0, 3).intersection(range(2, 5)) == range(2, 3))
    #expect(range(0, 9).intersection(range(2, 5)) == range(2, 5))
    #expect(range(0, 2).intersection(range(2, 5)).isEmpty)
    #expect(range(0, 1).intersection(range(4, 5)).isEmpty)
    #expect(range(0, 5).containsTimeRange(range(1, 5)) && !range(0, 5).containsTimeRange(range(1, 6)))
  }

  @Test("Endless ranges work like others")
  func endless() {
    let endless = CMTimeRange(start: seconds(3), duration: .positiveInfinity)
    #expect(endless.isValid && endless.end == .positiveInfinity && endless.containsTime(seconds(1 << 40)))
    #expect(endless.intersection(range(0, 5)) == range(3, 5))
    #expect(endless.union(range(0, 5)) == CMTimeRange(start: .zero, duration: .positiveInfinity))
    #expect(CMTimeRange(start: .zero, duration: .indefinite).isIndefinite)
  }

  @Test("Clamping takes the nearer end")
  func clamp() {
    #expect(CMTimeClampToRange(seconds(1), range: range(2, 5)) == seconds(2))
    #expect(CMTimeClampToRange(seconds(9), range: range(2, 5)) == seconds(5))
    #expect(CMTimeClampToRange(seconds(3), range: range(2, 5)) == seconds(3))
    #expect(!CMTimeClampToRange(.invalid, range: range(2, 5)).isValid)
  }
}

/// The clock that the whole product is on, read apart from what is tested.
private func hostNanoseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

@Suite("The host clock")
struct HostClockTests {
  @Test("The host clock counts nanoseconds and doesn't go back")
  func counts() {
    let clock = CMClockGetHostTimeClock()
    let before = hostNanoseconds()
    let first = CMClockGetTime(clock)
    let second = clock.time
    let after = hostNanoseconds()
    #expect(first.timescale == 1_000_000_000 && first.isNumeric)
    #expect(before <= first.value && first <= second && second.value <= after)
  }

  @Test("System units are nanoseconds, and out of range is no trap")
  func units() {
    let time = CMTime(value: 3, timescale: 2)
    #expect(CMClockConvertHostTimeToSystemUnits(time) == 1_500_000_000)
    #expect(CMClockMakeHostTimeFromSystemUnits(1_500_000_000) == time)
    #expect(CMClockConvertHostTimeToSystemUnits(.invalid) == 0)
    #expect(CMClockConvertHostTimeToSystemUnits(CMTime(value: -1, timescale: 1)) == 0)
    #expect(CMClockMakeHostTimeFromSystemUnits(.max) == .positiveInfinity)
  }
}
