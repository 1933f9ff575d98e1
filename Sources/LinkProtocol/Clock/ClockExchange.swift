import Units

/// When the app asks glasses for their time: a burst at the opening, so that the first picture already has its place,
/// then periodically.
struct ClockExchange: Sendable {
  private let interval: Duration
  private let burstInterval: Duration
  private var burstLeft: Int
  private var number: UInt32 = 0
  /// Numbers asked and not yet answered; an answer to anything else is ignored.
  private var outstanding: Set<UInt32> = []
  private(set) var nextDeadline: Instant

  /// Unanswered requests that are remembered: on a link that is this far behind, a later answer has no worth.
  private static let outstandingLimit = 16

  init(limits: LinkLimits, at now: Instant) {
    interval = limits.clockInterval
    burstInterval = limits.clockBurstInterval
    burstLeft = limits.clockBurst
    nextDeadline = now
  }

  mutating func timeout(at now: Instant) -> ClockRequest? {
    guard nextDeadline <= now else { return nil }
    burstLeft = max(0, burstLeft - 1)
    nextDeadline = now + (burstLeft > 0 ? burstInterval : interval)
    number &+= 1
    if outstanding.count >= Self.outstandingLimit { outstanding.removeAll() }
    outstanding.insert(number)
    return ClockRequest(number: number, originated: now)
  }

  /// True if the reply answers a request of ours that has not been answered.
  mutating func accepts(_ reply: ClockReply) -> Bool { outstanding.remove(reply.number) != nil }
}
