/// `value / timescale` seconds in epoch 0; invalid for a timescale of zero or less.
public func CMTimeMake(value: Int64, timescale: Int32) -> CMTime {
  CMTimeMakeWithEpoch(value: value, timescale: timescale, epoch: 0)
}

/// `value / timescale` seconds in an epoch; invalid for a timescale of zero or less.
public func CMTimeMakeWithEpoch(value: Int64, timescale: Int32, epoch: Int64) -> CMTime {
  guard timescale > 0 else { return .invalid }
  return CMTime(value: value, timescale: timescale, flags: .valid, epoch: epoch)
}

/// Seconds, rounded to the nearest unit of a timescale.
///
/// A value that leaves 64 bits halves the timescale until it fits; one that never fits is an infinity. Marked as
/// rounded unless the result, in seconds, is the argument again. Not a number, or a timescale of zero or less, gives an
/// invalid time.
public func CMTimeMakeWithSeconds(_ seconds: Float64, preferredTimescale: Int32) -> CMTime {
  guard preferredTimescale > 0, !seconds.isNaN else { return .invalid }
  var timescale = preferredTimescale
  while timescale > 0 {
    if let value = CMTimeValue(exactly: (seconds * Double(timescale)).rounded(.toNearestOrAwayFromZero)) {
      var time = CMTime(value: value, timescale: timescale, flags: .valid, epoch: 0)
      if time.seconds != seconds { time.flags.insert(.hasBeenRounded) }
      return time
    }
    timescale /= 2
  }
  return seconds < 0 ? .negativeInfinity : .positiveInfinity
}

/// In seconds: the quotient of the fields for a number, whatever its epoch; an infinity for infinities; else not a
/// number.
public func CMTimeGetSeconds(_ time: CMTime) -> Float64 {
  switch time.kind {
  case .number: Double(time.value) / Double(time.timescale)
  case .positiveInfinity: .infinity
  case .negativeInfinity: -.infinity
  case .indefinite, .invalid: .nan
  }
}

/// The same time in another timescale, marked as rounded if that can't hold it exactly.
///
/// Times that aren't numbers stay what they are. A value that leaves 64 bits gives an infinity; a timescale of zero or
/// less gives an invalid time.
public func CMTimeConvertScale(_ time: CMTime, timescale newTimescale: Int32, method: CMTimeRoundingMethod) -> CMTime {
  guard case .number = time.kind else { return time.kind == .invalid ? .invalid : time }
  guard newTimescale > 0 else { return .invalid }
  let exact = time.exactSeconds
  guard let (value, rounded) = exact.value(timescale: newTimescale, method: method, from: time.timescale) else {
    return time.value < 0 ? .negativeInfinity : .positiveInfinity
  }
  var result = CMTime(value: value, timescale: newTimescale, flags: time.flags, epoch: time.epoch)
  if rounded { result.flags.insert(.hasBeenRounded) }
  return result
}

/// True unless the time is invalid.
public func CMTIME_IS_VALID(_ time: CMTime) -> Bool { time.isValid }
/// True for an invalid time.
public func CMTIME_IS_INVALID(_ time: CMTime) -> Bool { !time.isValid }
/// True for positive infinity.
public func CMTIME_IS_POSITIVEINFINITY(_ time: CMTime) -> Bool { time.isPositiveInfinity }
/// True for negative infinity.
public func CMTIME_IS_NEGATIVEINFINITY(_ time: CMTime) -> Bool { time.isNegativeInfinity }
/// True for the indefinite time.
public func CMTIME_IS_INDEFINITE(_ time: CMTime) -> Bool { time.isIndefinite }
/// True for a valid time that is a number.
public func CMTIME_IS_NUMERIC(_ time: CMTime) -> Bool { time.isNumeric }
/// True for a number that isn't exact.
public func CMTIME_HAS_BEEN_ROUNDED(_ time: CMTime) -> Bool { time.hasBeenRounded }

/// An invalid time, by its C name.
public let kCMTimeInvalid = CMTime.invalid
/// The indefinite time, by its C name.
public let kCMTimeIndefinite = CMTime.indefinite
/// Positive infinity, by its C name.
public let kCMTimePositiveInfinity = CMTime.positiveInfinity
/// Negative infinity, by its C name.
public let kCMTimeNegativeInfinity = CMTime.negativeInfinity
/// Zero, by its C name.
public let kCMTimeZero = CMTime.zero
