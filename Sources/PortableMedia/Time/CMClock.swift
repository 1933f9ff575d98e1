/// A source of time.
public final class CMClock: Sendable {
  private init() {}

  /// The clock that every stamp of this product is on: the host's `CLOCK_MONOTONIC`.
  public static let hostTimeClock = CMClock()

  /// The time now, in nanoseconds. Any thread.
  public var time: CMTime { CMTime(value: monotonicNanoseconds(), timescale: 1_000_000_000) }
}

/// The clock that every stamp of this product is on: the host's `CLOCK_MONOTONIC`, which counts while the machine is
/// awake and never steps.
public func CMClockGetHostTimeClock() -> CMClock { .hostTimeClock }

/// The time of a clock now, with a timescale of 1 000 000 000. Any thread.
public func CMClockGetTime(_ clock: CMClock) -> CMTime { clock.time }

/// A host time as nanoseconds of `CLOCK_MONOTONIC`; 0 for what is no number or before the clock's origin.
public func CMClockConvertHostTimeToSystemUnits(_ hostTime: CMTime) -> UInt64 {
  let nanoseconds = CMTimeConvertScale(hostTime, timescale: 1_000_000_000, method: .default)
  return nanoseconds.isNumeric ? UInt64(max(0, nanoseconds.value)) : 0
}

/// The host time of nanoseconds of `CLOCK_MONOTONIC`; positive infinity for what 64 bits with a sign can't hold.
public func CMClockMakeHostTimeFromSystemUnits(_ hostTime: UInt64) -> CMTime {
  guard let value = Int64(exactly: hostTime) else { return .positiveInfinity }
  return CMTime(value: value, timescale: 1_000_000_000)
}
