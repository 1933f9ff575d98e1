import Units

/// When the glasses are asked for a sync unit on behalf of everyone on the app's side who needs one, as a value (LOSS-2).
///
/// One wish stands for all: it begins with the first who needs a sync unit and ends with the next one that arrives, which
/// serves everybody. Whoever still needs one after that wishes anew. The request leaves at once, though not less than
/// `spacing` after the one before; while the wish stands it is repeated after `firstBackOff`, then after twice as long
/// each time up to `longestBackOff`, whether anything arrives in the meantime or not.
///
/// Use: after every `want` and at every `nextDeadline`, call `timeout(at:)` and send what it gives.
package struct KeyframeSchedule: Hashable, Sendable {
  /// Least time between two requests: what LOSS-2 allows from a gap to its request.
  package static let spacing: Duration = .milliseconds(100)
  /// First pause between two requests: a round trip of 100 ms and an encoder's 50 ms fit in it.
  package static let firstBackOff: Duration = .milliseconds(150)
  /// Longest pause. A source that hears again is asked so soon that its picture comes within the second that STALL-3
  /// allows: the rest is for the next picture at 15 a second, and for the way of both.
  package static let longestBackOff: Duration = .milliseconds(700)

  private struct Wish: Hashable, Sendable {
    var reason: KeyframeRequest.Reason
    var next: Instant
    var backOff: Duration
  }

  private var wish: Wish?
  private var lastRequest: Instant?

  package init() {}

  /// When `timeout(at:)` has something to say next; nil while nobody needs a sync unit.
  package var nextDeadline: Instant? { wish?.next }

  /// Somebody needs a sync unit. Left to the request of the last `spacing` where that one is still unanswered.
  package mutating func want(_ reason: KeyframeRequest.Reason, at now: Instant) {
    let allowed = lastRequest.map { max(now, $0 + Self.spacing) } ?? now
    guard let standing = wish else {
      wish = Wish(reason: reason, next: allowed, backOff: Self.firstBackOff)
      return
    }
    // What the standing wish has asked for, or is about to, serves this one too, unless that was a while ago.
    guard allowed == now, standing.next > now else { return }
    wish?.reason = reason
    wish?.next = now
  }

  /// A sync unit has come that others can begin with.
  package mutating func arrived() { wish = nil }

  /// The reason of a request that shall leave now; the next one is then due after the back-off.
  package mutating func timeout(at now: Instant) -> KeyframeRequest.Reason? {
    guard let wish, wish.next <= now else { return nil }
    lastRequest = now
    self.wish = Wish(
      reason: wish.reason, next: now + wish.backOff, backOff: min(wish.backOff * 2, Self.longestBackOff))
    return wish.reason
  }
}
