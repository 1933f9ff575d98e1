/// How a time is rounded that a timescale can't hold exactly.
public enum CMTimeRoundingMethod: UInt32, Hashable, Sendable {
  /// To the nearest, halves away from zero.
  case roundHalfAwayFromZero = 1
  /// Fractions are dropped.
  case roundTowardZero = 2
  /// Fractions count as one.
  case roundAwayFromZero = 3
  /// Toward zero when going to a coarser timescale, away from zero to a finer one, and a negative time never becomes
  /// zero.
  case quickTime = 4
  /// Up.
  case roundTowardPositiveInfinity = 5
  /// Down.
  case roundTowardNegativeInfinity = 6

  /// To the nearest, halves away from zero.
  public static let `default`: CMTimeRoundingMethod = .roundHalfAwayFromZero
}

/// A number of seconds as an exact fraction; `denominator` is positive. What arithmetic goes through, since 64-bit
/// values over 32-bit timescales never overflow 128 bits.
struct ExactSeconds {
  var numerator: Int128
  var denominator: Int128

  /// The value in a timescale, and whether it had to be rounded. Nil if it leaves 64 bits, or 128 on the way.
  func value(
    timescale: CMTimeScale, method: CMTimeRoundingMethod = .default, from oldTimescale: CMTimeScale = 1
  ) -> (value: CMTimeValue, rounded: Bool)? {
    let (scaled, overflow) = numerator.multipliedReportingOverflow(by: Int128(timescale))
    guard !overflow else { return nil }
    let (quotient, remainder) = scaled.quotientAndRemainder(dividingBy: denominator)
    guard remainder != 0 else { return CMTimeValue(exactly: quotient).map { ($0, false) } }
    let away: Int128 = numerator < 0 ? -1 : 1
    // Not doubled, as the remainder may be near 2^127.
    let isHalfOrMore = remainder.magnitude >= denominator.magnitude - remainder.magnitude
    let step: Int128 =
      switch method {
      case .roundHalfAwayFromZero: isHalfOrMore ? away : 0
      case .roundTowardZero: 0
      case .roundAwayFromZero: away
      case .quickTime:
        if timescale > oldTimescale || (numerator < 0 && quotient == 0) { away } else { 0 }
      case .roundTowardPositiveInfinity: max(away, 0)
      case .roundTowardNegativeInfinity: min(away, 0)
      }
    return CMTimeValue(exactly: quotient + step).map { ($0, true) }
  }

  /// The time nearest to this in `timescale`, or in the first of its halves that holds the value; else an infinity.
  func time(timescale: CMTimeScale, epoch: CMTimeEpoch, rounded: Bool) -> CMTime {
    var timescale = timescale
    while timescale > 0 {
      if let nearest = value(timescale: timescale) {
        let flags: CMTimeFlags = rounded || nearest.rounded ? [.valid, .hasBeenRounded] : .valid
        return CMTime(value: nearest.value, timescale: timescale, flags: flags, epoch: epoch)
      }
      timescale /= 2
    }
    return numerator < 0 ? .negativeInfinity : .positiveInfinity
  }

  /// The time that is exactly this if there is one, in `preferred` or a multiple of it where possible; else the nearest
  /// in the finest multiple of `preferred`.
  func exactTime(preferring preferred: CMTimeScale, epoch: CMTimeEpoch, rounded: Bool) -> CMTime {
    let divisor = greatestCommonDivisor(numerator.magnitude, denominator.magnitude)
    let reduced = denominator.magnitude / divisor
    let limit = UInt128(kCMTimeMaxTimescale.magnitude)
    let candidates = reduced <= limit ? [leastCommonMultiple(reduced, UInt128(preferred.magnitude)), reduced] : []
    for candidate in candidates where candidate <= limit {
      if let exact = value(timescale: CMTimeScale(candidate)), !exact.rounded {
        let flags: CMTimeFlags = rounded ? [.valid, .hasBeenRounded] : .valid
        return CMTime(value: exact.value, timescale: CMTimeScale(candidate), flags: flags, epoch: epoch)
      }
    }
    let finest = preferred * (kCMTimeMaxTimescale / preferred)
    return time(timescale: finest, epoch: epoch, rounded: rounded)
  }
}

extension CMTime {
  /// As a fraction; for a number only.
  var exactSeconds: ExactSeconds { ExactSeconds(numerator: Int128(value), denominator: Int128(timescale)) }
}

func greatestCommonDivisor<Number: UnsignedInteger>(_ a: Number, _ b: Number) -> Number {
  var (a, b) = (a, b)
  while b != 0 { (a, b) = (b, a % b) }
  return a
}

/// Of two numbers of at most 31 bits, one of which is not zero.
func leastCommonMultiple(_ a: UInt128, _ b: UInt128) -> UInt128 { a / greatestCommonDivisor(a, b) * b }
