import Units

/// Stands before decoder and listeners of one stream and lets nothing pass that depends on a unit that is missing
/// (LOSS-1), asking for a keyframe until one comes (LOSS-2).
///
/// After a gap it withholds until a sync unit with its parameter sets, which it marks as a discontinuity. A new gate
/// waits for its first sync unit likewise, without the mark.
///
/// Use: after every `admit` and at every `nextDeadline`, call `timeout(at:)` and send a keyframe request when it says so.
/// The first request of a gap is due at once, so `timeout` right after `admit` returns true.
package struct LossGate: Hashable, Sendable {
  package enum Verdict: Hashable, Sendable {
    case deliver(discontinuity: Bool)
    case withhold
  }

  /// First pause between two requests: a round trip of 100 ms and an encoder's 50 ms fit in it.
  package static let firstBackOff: Duration = .milliseconds(150)
  /// Longest pause: a source that ignores requests is asked about once a second.
  package static let longestBackOff: Duration = .milliseconds(1200)

  private enum State: Hashable, Sendable {
    case flowing
    /// Nothing has been delivered yet, and nothing is known to be missing.
    case starting
    case waiting(afterGap: Bool, nextRequest: Instant, backOff: Duration)
  }

  private var state = State.starting
  private var lastSequence: UInt32?

  /// Units withheld, gaps begun and requests asked for, since the stream began.
  package private(set) var withheldUnits: UInt64 = 0
  package private(set) var gaps: UInt64 = 0
  package private(set) var requests: UInt64 = 0

  package init() {}

  /// True while units are withheld until a sync unit.
  package var isWaiting: Bool {
    if case .waiting = state { return true }
    return false
  }

  package mutating func admit(
    sequence: UInt32, flags: AccessUnit.Flags, lostBefore: Int, at now: Instant
  ) -> Verdict {
    // A unit that came before, or belongs before one that did, was either delivered or given up.
    if let lastSequence, !SerialNumber(lastSequence).precedes(SerialNumber(sequence)) {
      withheldUnits += 1
      return .withhold
    }
    lastSequence = sequence
    let gap = lostBefore > 0 || flags.contains(.discontinuity)
    let isEntry = flags.isSuperset(of: [.sync, .parameterSets])

    switch state {
    case .flowing:
      if gap { gaps += 1 }
      if !gap { return .deliver(discontinuity: false) }
      if isEntry { return .deliver(discontinuity: true) }
      state = .waiting(afterGap: true, nextRequest: now, backOff: Self.firstBackOff)
    case .starting:
      if isEntry {
        state = .flowing
        return .deliver(discontinuity: gap)
      }
      state = .waiting(afterGap: gap, nextRequest: now, backOff: Self.firstBackOff)
    case .waiting(let afterGap, let nextRequest, let backOff):
      if isEntry {
        state = .flowing
        return .deliver(discontinuity: afterGap || gap)
      }
      state = .waiting(afterGap: afterGap || gap, nextRequest: nextRequest, backOff: backOff)
    }
    withheldUnits += 1
    return .withhold
  }

  /// When `timeout(at:)` has something to say next; nil while nothing is withheld.
  package var nextDeadline: Instant? {
    guard case .waiting(_, let nextRequest, _) = state else { return nil }
    return nextRequest
  }

  /// True when a keyframe request shall leave now; the next one is then due after the back-off.
  package mutating func timeout(at now: Instant) -> Bool {
    guard case .waiting(let afterGap, let nextRequest, let backOff) = state, nextRequest <= now else { return false }
    requests += 1
    state = .waiting(
      afterGap: afterGap, nextRequest: now + backOff, backOff: min(backOff * 2, Self.longestBackOff))
    return true
  }
}
