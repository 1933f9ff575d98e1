import Units

/// Stands before decoder and listeners of one stream and lets nothing pass that depends on a unit that is missing
/// (LOSS-1).
///
/// After a gap it withholds until a sync unit with its parameter sets, which it marks as a discontinuity. A new gate
/// waits for its first sync unit likewise, without the mark. Where a wait begins it says that a sync unit is to be asked
/// for; `KeyframeSchedule` says when, and how often.
package struct LossGate: Hashable, Sendable {
  package enum Verdict: Hashable, Sendable {
    case deliver(discontinuity: Bool)
    /// `asks`: a wait begins, so that a sync unit is needed.
    case withhold(asks: Bool)
  }

  private enum State: Hashable, Sendable {
    case flowing
    /// Nothing has been delivered yet, and nothing is known to be missing.
    case starting
    case waiting(afterGap: Bool)
  }

  private var state = State.starting
  private var lastSequence: UInt32?

  /// Units withheld and gaps begun since the stream began.
  package private(set) var withheldUnits: UInt64 = 0
  package private(set) var gaps: UInt64 = 0
  /// Units withheld in the present wait or, while units pass, before the sync unit that ended the last one.
  package private(set) var withheldInWait: UInt64 = 0

  package init() {}

  /// True while units are withheld until a sync unit.
  package var isWaiting: Bool {
    if case .waiting = state { return true }
    return false
  }

  package mutating func admit(sequence: UInt32, flags: AccessUnit.Flags, lostBefore: Int) -> Verdict {
    // A unit that came before, or belongs before one that did, was either delivered or given up.
    if let lastSequence, !SerialNumber(lastSequence).precedes(SerialNumber(sequence)) {
      withheldUnits += 1
      return .withhold(asks: false)
    }
    lastSequence = sequence
    let isGap = lostBefore > 0 || flags.contains(.discontinuity)
    let isEntry = flags.isSuperset(of: [.sync, .parameterSets])

    switch state {
    case .flowing:
      if isGap { beginGap() }
      if !isGap || isEntry { return .deliver(discontinuity: isGap) }
      return withhold(afterGap: true, asks: true)
    case .starting:
      guard isEntry else { return withhold(afterGap: isGap, asks: true) }
      state = .flowing
      return .deliver(discontinuity: isGap)
    case .waiting(let afterGap):
      guard isEntry else { return withhold(afterGap: afterGap || isGap, asks: false) }
      state = .flowing
      return .deliver(discontinuity: afterGap || isGap)
    }
  }

  /// Something is missing that no unit will tell of: one that came and can't be used, or that was dropped on this side.
  ///
  /// - Returns: true where a wait begins, so that a sync unit is needed.
  package mutating func lose() -> Bool {
    let begins = !isWaiting
    if begins { beginGap() }
    state = .waiting(afterGap: true)
    return begins
  }

  private mutating func beginGap() {
    gaps += 1
    withheldInWait = 0
  }

  private mutating func withhold(afterGap: Bool, asks: Bool) -> Verdict {
    state = .waiting(afterGap: afterGap)
    withheldUnits += 1
    withheldInWait += 1
    return .withhold(asks: asks)
  }
}
