import Units

/// Notices a peer that has gone quiet: asks for a sign of life, and gives up when none comes.
struct Liveness: Sendable {
  enum Action: Sendable { case none, ping(UInt32), giveUp }

  /// A deadline that is seen this much later means that this process did not run (it was stopped, or the machine
  /// slept); what the peer sent meanwhile is still unread, so it is asked afresh.
  static let oversleep: Duration = .seconds(1)

  private let pingAfter: Duration
  private let silenceDeadline: Duration
  private var lastHeard: Instant
  private var isAsking = false
  private var number: UInt32 = 0

  init(limits: LinkLimits, at now: Instant) {
    pingAfter = limits.pingAfter
    silenceDeadline = limits.silenceDeadline
    lastHeard = now
  }

  var nextDeadline: Instant { lastHeard + (isAsking ? silenceDeadline : pingAfter) }

  mutating func heard(at now: Instant) {
    lastHeard = now
    isAsking = false
  }

  mutating func timeout(at now: Instant) -> Action {
    let lateness = now - nextDeadline
    guard lateness >= .zero else { return .none }
    if isAsking, lateness < Self.oversleep { return .giveUp }
    if lateness >= Self.oversleep { lastHeard = now - pingAfter }
    isAsking = true
    number &+= 1
    return .ping(number)
  }
}
