/// The numerator of a time.
public typealias CMTimeValue = Int64
/// The denominator of a time: units per second.
public typealias CMTimeScale = Int32
/// Tells apart timelines that begin anew, such as turns of a loop.
public typealias CMTimeEpoch = Int64

/// The largest denominator.
public let kCMTimeMaxTimescale: CMTimeScale = 0x7FFF_FFFF

/// What kind of time a ``CMTime`` is.
public struct CMTimeFlags: OptionSet, Hashable, Sendable {
  /// The bits.
  public let rawValue: UInt32

  /// Flags from bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Must be set; all fields zero is an invalid time.
  public static let valid = CMTimeFlags(rawValue: 1 << 0)
  /// The value is not exact.
  public static let hasBeenRounded = CMTimeFlags(rawValue: 1 << 1)
  /// After every other time.
  public static let positiveInfinity = CMTimeFlags(rawValue: 1 << 2)
  /// Before every other time.
  public static let negativeInfinity = CMTimeFlags(rawValue: 1 << 3)
  /// Valid, but nobody knows when.
  public static let indefinite = CMTimeFlags(rawValue: 1 << 4)
  /// Any of the three kinds that aren't numbers.
  public static let impliedValueFlagsMask: CMTimeFlags = [.positiveInfinity, .negativeInfinity, .indefinite]
}

/// A rational time: `value / timescale` seconds, or one of the times that aren't numbers.
///
/// The stamps of this project's pictures are on ``CMClockGetHostTimeClock()`` with a timescale of 1 000 000 000. No
/// arithmetic traps: what leaves 64 bits is rounded to a coarser timescale, then becomes an infinity. A time whose
/// fields contradict (marked valid with a timescale of zero or less) counts as invalid.
public struct CMTime: Sendable {
  /// The numerator.
  public var value: CMTimeValue
  /// The denominator: units per second.
  public var timescale: CMTimeScale
  /// What kind of time this is.
  public var flags: CMTimeFlags
  /// The timeline; 0 for durations.
  public var epoch: CMTimeEpoch

  /// A time from its four fields, unchecked.
  public init(value: CMTimeValue, timescale: CMTimeScale, flags: CMTimeFlags, epoch: CMTimeEpoch) {
    self.value = value
    self.timescale = timescale
    self.flags = flags
    self.epoch = epoch
  }

  /// An invalid time: all fields zero.
  public init() { self.init(value: 0, timescale: 0, flags: [], epoch: 0) }

  /// `value / timescale` seconds in epoch 0; invalid for a timescale of zero or less.
  public init(value: CMTimeValue, timescale: CMTimeScale) { self = CMTimeMake(value: value, timescale: timescale) }

  /// Seconds, rounded to the timescale; see ``CMTimeMakeWithSeconds(_:preferredTimescale:)``.
  public init(seconds: Double, preferredTimescale: CMTimeScale) {
    self = CMTimeMakeWithSeconds(seconds, preferredTimescale: preferredTimescale)
  }

  /// Not a time.
  public static let invalid = CMTime()
  /// Valid, but nobody knows when.
  public static let indefinite = CMTime(value: 0, timescale: 0, flags: [.valid, .indefinite], epoch: 0)
  /// After every other valid time.
  public static let positiveInfinity = CMTime(value: 0, timescale: 0, flags: [.valid, .positiveInfinity], epoch: 0)
  /// Before every other time.
  public static let negativeInfinity = CMTime(value: 0, timescale: 0, flags: [.valid, .negativeInfinity], epoch: 0)
  /// Zero seconds.
  public static let zero = CMTime(value: 0, timescale: 1, flags: .valid, epoch: 0)

  /// True unless this is an invalid time.
  public var isValid: Bool { flags.contains(.valid) }
  /// True for positive infinity.
  public var isPositiveInfinity: Bool { flags.contains([.valid, .positiveInfinity]) }
  /// True for negative infinity.
  public var isNegativeInfinity: Bool { flags.contains([.valid, .negativeInfinity]) }
  /// True for the indefinite time.
  public var isIndefinite: Bool { flags.contains([.valid, .indefinite]) }
  /// True for a valid time that is a number.
  public var isNumeric: Bool { isValid && flags.isDisjoint(with: .impliedValueFlagsMask) }
  /// True for a number that isn't exact.
  public var hasBeenRounded: Bool { isNumeric && flags.contains(.hasBeenRounded) }
  /// In seconds; see ``CMTimeGetSeconds(_:)``.
  public var seconds: Double { CMTimeGetSeconds(self) }

  /// The same time in another timescale; see ``CMTimeConvertScale(_:timescale:method:)``.
  public func convertScale(_ newTimescale: Int32, method: CMTimeRoundingMethod) -> CMTime {
    CMTimeConvertScale(self, timescale: newTimescale, method: method)
  }
}

extension CMTime {
  /// The five kinds, with contradictory fields sorted out.
  enum Kind { case number, positiveInfinity, negativeInfinity, indefinite, invalid }

  var kind: Kind {
    if !isValid { return .invalid }
    if isPositiveInfinity { return .positiveInfinity }
    if isNegativeInfinity { return .negativeInfinity }
    if isIndefinite { return .indefinite }
    return timescale > 0 ? .number : .invalid
  }
}
