/// A stretch of time: from `start`, included, to `start + duration`, not included.
public struct CMTimeRange: Hashable, Sendable {
  /// Where it begins.
  public var start: CMTime
  /// How long it is; not negative in a valid range.
  public var duration: CMTime

  /// A range from its fields, unchecked.
  public init(start: CMTime, duration: CMTime) {
    self.start = start
    self.duration = duration
  }

  /// An invalid range.
  public init() { self.init(start: .invalid, duration: .invalid) }

  /// From one time to another; see ``CMTimeRangeFromTimeToTime(start:end:)``.
  public init(start: CMTime, end: CMTime) { self = CMTimeRangeFromTimeToTime(start: start, end: end) }

  /// Nothing at zero.
  public static let zero = CMTimeRange(start: .zero, duration: .zero)
  /// Not a range.
  public static let invalid = CMTimeRange()

  /// True if both fields are valid and the duration is a length: in epoch 0 and not negative.
  public var isValid: Bool {
    start.isValid && duration.isValid && duration.epoch == 0 && duration >= .zero
  }
  /// True for a valid range with an indefinite field.
  public var isIndefinite: Bool { isValid && (start.isIndefinite || duration.isIndefinite) }
  /// True for a valid range of no length.
  public var isEmpty: Bool { isValid && duration == .zero }
  /// The first time after the range.
  public var end: CMTime { CMTimeRangeGetEnd(self) }

  /// The smallest range that holds both; see ``CMTimeRangeGetUnion(_:otherRange:)``.
  public func union(_ otherRange: CMTimeRange) -> CMTimeRange { CMTimeRangeGetUnion(self, otherRange: otherRange) }
  /// What both have; see ``CMTimeRangeGetIntersection(_:otherRange:)``.
  public func intersection(_ otherRange: CMTimeRange) -> CMTimeRange {
    CMTimeRangeGetIntersection(self, otherRange: otherRange)
  }
  /// True if the time is in the range; its end isn't.
  public func containsTime(_ time: CMTime) -> Bool { CMTimeRangeContainsTime(self, time: time) }
  /// True if all of the other range is in this one.
  public func containsTimeRange(_ otherRange: CMTimeRange) -> Bool {
    CMTimeRangeContainsTimeRange(self, otherRange: otherRange)
  }
}

/// A range from its fields; invalid if one is, or if the duration isn't a length.
public func CMTimeRangeMake(start: CMTime, duration: CMTime) -> CMTimeRange {
  let range = CMTimeRange(start: start, duration: duration)
  return range.isValid ? range : .invalid
}

/// The range between two times; invalid if one is or if the end comes first.
public func CMTimeRangeFromTimeToTime(start: CMTime, end: CMTime) -> CMTimeRange {
  CMTimeRangeMake(start: start, duration: CMTimeSubtract(end, start))
}

/// The first time after the range; invalid for an invalid range.
public func CMTimeRangeGetEnd(_ range: CMTimeRange) -> CMTime {
  range.isValid ? CMTimeAdd(range.start, range.duration) : .invalid
}

/// The smallest range that holds both; invalid if one is.
public func CMTimeRangeGetUnion(_ range: CMTimeRange, otherRange: CMTimeRange) -> CMTimeRange {
  guard range.isValid, otherRange.isValid else { return .invalid }
  return CMTimeRangeFromTimeToTime(
    start: CMTimeMinimum(range.start, otherRange.start), end: CMTimeMaximum(range.end, otherRange.end))
}

/// What both ranges have: an empty range at zero if nothing; invalid if one is.
public func CMTimeRangeGetIntersection(_ range: CMTimeRange, otherRange: CMTimeRange) -> CMTimeRange {
  guard range.isValid, otherRange.isValid else { return .invalid }
  let start = CMTimeMaximum(range.start, otherRange.start)
  let end = CMTimeMinimum(range.end, otherRange.end)
  return start < end ? CMTimeRangeFromTimeToTime(start: start, end: end) : .zero
}

/// True if the time is in the range; its end isn't, and an empty or invalid range holds nothing.
public func CMTimeRangeContainsTime(_ range: CMTimeRange, time: CMTime) -> Bool {
  guard range.isValid, time.isValid else { return false }
  return range.start <= time && time < range.end
}

/// True if all of the other range is in this one; an invalid range neither holds nor is held.
public func CMTimeRangeContainsTimeRange(_ range: CMTimeRange, otherRange: CMTimeRange) -> Bool {
  guard range.isValid, otherRange.isValid else { return false }
  return range.start <= otherRange.start && otherRange.end <= range.end
}

/// True if both ranges begin at the same time and are of the same length.
public func CMTimeRangeEqual(_ range1: CMTimeRange, _ range2: CMTimeRange) -> Bool { range1 == range2 }

/// The time itself if the range holds it, else the range's nearer end; invalid for an invalid argument.
public func CMTimeClampToRange(_ time: CMTime, range: CMTimeRange) -> CMTime {
  guard time.isValid, range.isValid else { return .invalid }
  return CMTimeMinimum(CMTimeMaximum(time, range.start), range.end)
}

/// True for a valid range.
public func CMTIMERANGE_IS_VALID(_ range: CMTimeRange) -> Bool { range.isValid }
/// True for an invalid range.
public func CMTIMERANGE_IS_INVALID(_ range: CMTimeRange) -> Bool { !range.isValid }
/// True for a valid range with an indefinite field.
public func CMTIMERANGE_IS_INDEFINITE(_ range: CMTimeRange) -> Bool { range.isIndefinite }
/// True for a valid range of no length.
public func CMTIMERANGE_IS_EMPTY(_ range: CMTimeRange) -> Bool { range.isEmpty }

/// Nothing at zero, by its C name.
public let kCMTimeRangeZero = CMTimeRange.zero
/// An invalid range, by its C name.
public let kCMTimeRangeInvalid = CMTimeRange.invalid

extension CMTimeRange: CustomStringConvertible {
  /// Start and duration, as times are written.
  public var description: String { "{\(start), \(duration)}" }
}

/// Writes a range and a line end to standard error, for debugging.
public func CMTimeRangeShow(_ range: CMTimeRange) { writeToStandardError(range.description + "\n") }
