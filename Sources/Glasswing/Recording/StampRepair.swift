import Units

/// Makes presentation stamps that rise strictly out of stamps that may be equal, go back or be missing.
///
/// A good stamp passes unchanged, but for the recording's beginning, which is subtracted. One that is missing follows
/// the last by one frame. One that doesn't rise follows the last by half a frame, as long as that moves it by no more
/// than a frame; what is further off is another time base, and is joined on so that the sample follows by one frame.
/// A gap forward stays a gap. Each repair is counted.
struct StampRepair {
  /// Containers count in ticks of a millisecond at worst (Matroska), so stamps closer than that would fall together.
  static let leastStep: Int64 = 1_000_000
  /// A longer gap than this is no gap but another time base.
  static let longestGap: Int64 = 24 * 3600 * 1_000_000_000
  /// Steps longer than this are gaps and say nothing of the frame rate.
  private static let longestFrame: Int64 = 1_000_000_000

  /// What is subtracted from raw stamps; nil until a sample had one.
  private var base: Int64?
  private var last: Int64?
  /// The usual step, in nanoseconds: a moving mean that begins at 30 frames a second.
  private(set) var frame: Int64 = 33_333_333
  private(set) var repairs = 0

  /// - Parameter raw: nanoseconds on any base, nil when the sample has none.
  /// - Returns: nanoseconds since the first sample.
  mutating func stamp(for raw: Int64?) -> Int64 {
    guard let last else {
      base = raw
      last = 0
      if raw == nil { repairs += 1 }
      return 0
    }
    let stamp = follow(raw, last: last)
    self.last = stamp
    return stamp
  }

  private mutating func follow(_ raw: Int64?, last: Int64) -> Int64 {
    let next = last.addingSaturating(frame)
    guard let raw else {
      repairs += 1
      return next
    }
    guard let base else {
      self.base = raw.subtractingSaturating(next)
      return next
    }
    let relative = raw.subtractingSaturating(base)
    let step = relative.subtractingSaturating(last)
    if step >= Self.leastStep, step <= Self.longestGap {
      if step <= Self.longestFrame { frame += (step - frame) / 8 }
      return relative
    }
    repairs += 1
    let nudged = last.addingSaturating(max(Self.leastStep, frame / 2))
    if step < Self.leastStep, nudged.subtractingSaturating(relative) <= frame { return nudged }
    self.base = raw.subtractingSaturating(next)
    return next
  }
}
