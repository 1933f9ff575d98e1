import Units

/// Notices a peer that has gone quiet: asks for signs of life, says when it counts as silent, and when it is given up.
struct Liveness: Sendable {
  enum Action: Hashable, Sendable {
    case ping(UInt32)
    /// What the peer borrowed is its own no longer.
    case silent(since: Instant)
    case giveUp
  }

  /// A deadline that is seen this much later means that this process did not run (it was stopped, or the machine
  /// slept). What the peer sent meanwhile is still unread, so that time does not count as its silence, and nothing is
  /// concluded before it was asked afresh.
  static let oversleep: Duration = .seconds(1)

  private let pingAfter: Duration
  private let lease: Duration
  private let silenceDeadline: Duration
  private(set) var lastHeard: Instant
  private var nextPing: Instant
  private var silentSince: Instant?
  private var number: UInt32 = 0

  init(limits: LinkLimits, at now: Instant) {
    pingAfter = limits.pingAfter
    lease = limits.lease
    silenceDeadline = limits.silenceDeadline
    lastHeard = now
    nextPing = now + pingAfter
  }

  /// Quiet after which something follows besides a question.
  private var patience: Duration { silentSince == nil ? min(lease, silenceDeadline) : silenceDeadline }

  var nextDeadline: Instant { min(nextPing, lastHeard + patience) }

  /// How long the peer was silent; nil when it did not count as that.
  mutating func heard(at now: Instant) -> Duration? {
    defer {
      lastHeard = now
      nextPing = now + pingAfter
      silentSince = nil
    }
    return silentSince.map { now - $0 }
  }

  mutating func timeout(at now: Instant) -> [Action] {
    let lateness = now - nextDeadline
    guard lateness >= .zero else { return [] }
    if lateness >= Self.oversleep { lastHeard = max(lastHeard + lateness, now - patience + pingAfter) }
    let quiet = now - lastHeard
    guard quiet < silenceDeadline else { return [.giveUp] }
    var actions: [Action] = []
    if nextPing <= now {
      nextPing = now + pingAfter
      number &+= 1
      actions.append(.ping(number))
    }
    if silentSince == nil, quiet >= lease {
      silentSince = lastHeard
      actions.append(.silent(since: lastHeard))
    }
    return actions
  }
}
