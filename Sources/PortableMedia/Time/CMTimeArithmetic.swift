/// The sum of two times.
///
/// The result's timescale is the operands' least common multiple, at most ``kCMTimeMaxTimescale``; it is halved while
/// the value leaves 64 bits, and what never fits is an infinity. Marked as rounded if an operand is or the result had
/// to be.
///
/// An invalid operand makes the sum invalid, else an indefinite one makes it indefinite, else an infinite one infinite;
/// the two infinities together are indefinite. Numbers of two different epochs have no sum (invalid) unless one epoch
/// is 0, which means a duration; the result is in the other's epoch.
public func CMTimeAdd(_ lhs: CMTime, _ rhs: CMTime) -> CMTime {
  sum(lhs, rhs, epoch: lhs.epoch == rhs.epoch ? lhs.epoch : nil, sign: 1)
}

/// The difference of two times, by the rules of ``CMTimeAdd(_:_:)``; of two times of one epoch it is a duration, in
/// epoch 0.
public func CMTimeSubtract(_ lhs: CMTime, _ rhs: CMTime) -> CMTime {
  sum(lhs, rhs, epoch: lhs.epoch == rhs.epoch ? 0 : nil, sign: -1)
}

/// - Parameter epoch: of the result for operands of the same epoch; nil if their epochs differ.
private func sum(_ lhs: CMTime, _ rhs: CMTime, epoch: CMTimeEpoch?, sign: Int128) -> CMTime {
  let left = lhs.kind
  let right = sign < 0 ? rhs.kind.negated : rhs.kind
  switch (left, right) {
  case (.invalid, _), (_, .invalid): return .invalid
  case (.indefinite, _), (_, .indefinite): return .indefinite
  case (.positiveInfinity, .negativeInfinity), (.negativeInfinity, .positiveInfinity): return .indefinite
  case (.positiveInfinity, _), (_, .positiveInfinity): return .positiveInfinity
  case (.negativeInfinity, _), (_, .negativeInfinity): return .negativeInfinity
  case (.number, .number): break
  }
  guard let epoch = epoch ?? (lhs.epoch == 0 ? rhs.epoch : rhs.epoch == 0 ? lhs.epoch : nil) else { return .invalid }
  let a = Int128(lhs.timescale)
  let b = Int128(rhs.timescale)
  let exact = ExactSeconds(numerator: Int128(lhs.value) * b + sign * Int128(rhs.value) * a, denominator: a * b)
  let common = leastCommonMultiple(a.magnitude, b.magnitude)
  let timescale = CMTimeScale(exactly: common) ?? kCMTimeMaxTimescale
  let rounded = lhs.hasBeenRounded || rhs.hasBeenRounded
  return exact.time(timescale: timescale, epoch: epoch, rounded: rounded)
}

/// A time taken several times, in its own timescale, which is halved while the value leaves 64 bits; then an infinity.
///
/// Times that aren't numbers stay what they are, except that a negative multiplier turns an infinity round and zero
/// makes it indefinite.
public func CMTimeMultiply(_ time: CMTime, multiplier: Int32) -> CMTime {
  guard case .number = time.kind else { return time.kind.scaled(bySignOf: Int(multiplier.signum())).time }
  let exact = ExactSeconds(numerator: Int128(time.value) * Int128(multiplier), denominator: Int128(time.timescale))
  return exact.time(timescale: time.timescale, epoch: time.epoch, rounded: time.hasBeenRounded)
}

/// A time multiplied by a fraction.
///
/// Exact where some timescale can hold it: the time's own, else a multiple of it, else any. Otherwise rounded to the
/// nearest in the finest multiple of the time's own timescale. Times that aren't numbers as in
/// ``CMTimeMultiply(_:multiplier:)``; a divisor of zero gives an invalid time.
public func CMTimeMultiplyByRatio(_ time: CMTime, multiplier: Int32, divisor: Int32) -> CMTime {
  guard divisor != 0 else { return .invalid }
  let sign = multiplier.signum() * divisor.signum()
  guard case .number = time.kind else { return time.kind.scaled(bySignOf: Int(sign)).time }
  let magnitude = Int128(multiplier.magnitude) * Int128(sign)
  let exact = ExactSeconds(
    numerator: Int128(time.value) * magnitude, denominator: Int128(time.timescale) * Int128(divisor.magnitude))
  return exact.exactTime(preferring: time.timescale, epoch: time.epoch, rounded: time.hasBeenRounded)
}

/// A time multiplied by a floating-point number, which is taken as the exact binary fraction that it is.
///
/// Rounding and times that aren't numbers as in ``CMTimeMultiplyByRatio(_:multiplier:divisor:)``. Not a number as
/// multiplier gives an invalid time, an infinite one an infinity.
public func CMTimeMultiplyByFloat64(_ time: CMTime, multiplier: Float64) -> CMTime {
  guard !multiplier.isNaN else { return .invalid }
  let sign = multiplier == 0 ? 0 : multiplier < 0 ? -1 : 1
  guard case .number = time.kind else { return time.kind.scaled(bySignOf: sign).time }
  guard multiplier != 0, time.value != 0 else {
    return CMTime(value: 0, timescale: time.timescale, flags: time.flags, epoch: time.epoch)
  }
  let towardNegative = (time.value < 0) != (multiplier < 0)
  let overflow: CMTime = towardNegative ? .negativeInfinity : .positiveInfinity
  guard multiplier.isFinite else { return overflow }

  // |multiplier| = mantissa * 2^exponent with an odd mantissa of at most 53 bits, so |value| * mantissa has at most
  // 117.
  var exponent = Int(multiplier.exponent) - multiplier.significandWidth
  let mantissa = UInt64(scaled(multiplier.magnitude, exponent: -exponent))
  var numerator = UInt128(time.value.magnitude) * UInt128(mantissa)
  let zeros = numerator.trailingZeroBitCount
  numerator >>= zeros
  exponent += zeros
  let bits = numerator.bitWidth - numerator.leadingZeroBitCount
  // 2^95 units of the finest timescale are 2^64 seconds, which no timescale holds.
  guard bits + exponent <= 95 else { return overflow }
  var rounded = time.hasBeenRounded
  // Both sides of the fraction get 95 bits, so that either times a timescale stays within 127. Bits beyond are folded
  // into the lowest one, which keeps "not exact" and "more than half" true.
  let excess = max(bits - 95, -exponent - 95, 0)
  if excess > 0 {
    numerator = excess < 127 ? numerator >> excess | 1 : 1
    exponent += excess
    rounded = true
  }
  if exponent > 0 { numerator <<= exponent }
  let exact = ExactSeconds(
    numerator: signed(numerator, negative: towardNegative),
    denominator: Int128(time.timescale) << max(-exponent, 0))
  return exact.exactTime(preferring: time.timescale, epoch: time.epoch, rounded: rounded)
}

private func signed(_ magnitude: UInt128, negative: Bool) -> Int128 {
  negative ? -Int128(magnitude) : Int128(magnitude)
}
