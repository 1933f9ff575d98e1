import Units

/// How old frames were, in bounded memory: counts by age, with steps of at most 1/16 of the age.
///
/// Ages below 16 µs have a step of 1 µs. Each further doubling up to 2^26 µs (67 s) has 16 steps; what is older counts
/// as the last. 16 + 22 * 16 counters are 1.5 KB.
package struct AgeHistogram: Sendable {
  private static let stepsInDoubling = 16
  private static let doublings = 22

  private var counts = [UInt32](repeating: 0, count: stepsInDoubling + doublings * stepsInDoubling)
  package private(set) var count: UInt64 = 0

  package init() {}

  /// A negative age counts as none.
  package mutating func record(_ age: Duration) {
    let slot = Self.slot(ofMicroseconds: max(0, age.nanoseconds / 1000))
    counts[slot] = counts[slot].addingSaturating(1)
    count = count.addingSaturating(1)
  }

  /// The age that the given share of frames doesn't exceed, as the upper end of its step; nil before the first frame.
  package func percentile(_ share: Double) -> Duration? {
    guard count > 0 else { return nil }
    let rank = max(1, UInt64((Double(count) * min(1, max(0, share))).rounded(.up)))
    var seen: UInt64 = 0
    for (slot, n) in counts.enumerated() {
      seen = seen.addingSaturating(UInt64(n))
      if seen >= rank { return .microseconds(Self.upperEnd(ofSlot: slot)) }
    }
    return .microseconds(Self.upperEnd(ofSlot: counts.count - 1))
  }

  private static func slot(ofMicroseconds age: Int64) -> Int {
    guard age >= stepsInDoubling else { return Int(age) }
    let exponent = 63 - age.leadingZeroBitCount  // 4 and up
    let doubling = exponent - 4
    guard doubling < doublings else { return stepsInDoubling + doublings * stepsInDoubling - 1 }
    let step = Int(age >> doubling) - stepsInDoubling
    return stepsInDoubling + doubling * stepsInDoubling + step
  }

  private static func upperEnd(ofSlot slot: Int) -> Int64 {
    guard slot >= stepsInDoubling else { return Int64(slot) }
    let doubling = (slot - stepsInDoubling) / stepsInDoubling
    let step = (slot - stepsInDoubling) % stepsInDoubling
    return (Int64(stepsInDoubling + step + 1) << doubling) - 1
  }
}
