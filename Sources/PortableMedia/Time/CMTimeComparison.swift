extension CMTime.Kind {
  /// Place in the order of all times: negative infinity, numbers, indefinite, positive infinity, invalid.
  fileprivate var rank: Int {
    switch self {
    case .negativeInfinity: 0
    case .number: 1
    case .indefinite: 2
    case .positiveInfinity: 3
    case .invalid: 4
    }
  }

  var negated: CMTime.Kind { scaled(bySignOf: -1) }

  /// What becomes of a time that isn't a number when it is multiplied.
  func scaled(bySignOf sign: Int) -> CMTime.Kind {
    switch self {
    case .number, .indefinite, .invalid: self
    case .positiveInfinity: sign > 0 ? .positiveInfinity : sign < 0 ? .negativeInfinity : .indefinite
    case .negativeInfinity: sign > 0 ? .negativeInfinity : sign < 0 ? .positiveInfinity : .indefinite
    }
  }

  /// The time that this kind stands for; numbers have none of their own.
  var time: CMTime {
    switch self {
    case .number, .invalid: .invalid
    case .indefinite: .indefinite
    case .positiveInfinity: .positiveInfinity
    case .negativeInfinity: .negativeInfinity
    }
  }
}

/// -1, 0 or 1 as the first time is before, equal to or after the second.
///
/// All times have an order: negative infinity, numbers (a smaller epoch first), indefinite, positive infinity, invalid.
/// Two times of the same kind that aren't numbers are equal.
public func CMTimeCompare(_ time1: CMTime, _ time2: CMTime) -> Int32 {
  let (a, b) = (time1.kind, time2.kind)
  guard a == .number, b == .number else { return a.rank == b.rank ? 0 : a.rank < b.rank ? -1 : 1 }
  guard time1.epoch == time2.epoch else { return time1.epoch < time2.epoch ? -1 : 1 }
  let left = Int128(time1.value) * Int128(time2.timescale)
  let right = Int128(time2.value) * Int128(time1.timescale)
  return left == right ? 0 : left < right ? -1 : 1
}

/// The earlier of two times.
public func CMTimeMinimum(_ time1: CMTime, _ time2: CMTime) -> CMTime {
  CMTimeCompare(time1, time2) <= 0 ? time1 : time2
}

/// The later of two times.
public func CMTimeMaximum(_ time1: CMTime, _ time2: CMTime) -> CMTime {
  CMTimeCompare(time1, time2) >= 0 ? time1 : time2
}

/// The time without its sign; negative infinity becomes positive.
public func CMTimeAbsoluteValue(_ time: CMTime) -> CMTime {
  switch time.kind {
  case .number:
    if time.value >= 0 { return time }
    let exact = ExactSeconds(numerator: -Int128(time.value), denominator: Int128(time.timescale))
    return exact.time(timescale: time.timescale, epoch: time.epoch, rounded: time.hasBeenRounded)
  case .negativeInfinity, .positiveInfinity: return .positiveInfinity
  case .indefinite: return .indefinite
  case .invalid: return .invalid
  }
}

extension CMTime: Comparable, Hashable {
  /// Equal as points in time: 1/2 and 2/4 are. Invalid times equal each other.
  public static func == (time1: CMTime, time2: CMTime) -> Bool { CMTimeCompare(time1, time2) == 0 }

  /// The order of ``CMTimeCompare(_:_:)``.
  public static func < (time1: CMTime, time2: CMTime) -> Bool { CMTimeCompare(time1, time2) < 0 }

  /// Feeds what `==` looks at: the kind, and a number's epoch and reduced fraction.
  public func hash(into hasher: inout Hasher) {
    let kind = kind
    hasher.combine(kind.rank)
    guard kind == .number else { return }
    let divisor = greatestCommonDivisor(value.magnitude, UInt64(timescale.magnitude))
    hasher.combine(value < 0)
    hasher.combine(value.magnitude / divisor)
    hasher.combine(UInt64(timescale.magnitude) / divisor)
    hasher.combine(epoch)
  }

  /// The sum; see ``CMTimeAdd(_:_:)``.
  public static func + (addend1: CMTime, addend2: CMTime) -> CMTime { CMTimeAdd(addend1, addend2) }

  /// The difference; see ``CMTimeSubtract(_:_:)``.
  public static func - (minuend: CMTime, subtrahend: CMTime) -> CMTime { CMTimeSubtract(minuend, subtrahend) }
}
