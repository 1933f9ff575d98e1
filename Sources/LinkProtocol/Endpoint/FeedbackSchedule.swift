import Units

/// What has arrived on the media channels, and when the sender is told next.
struct FeedbackSchedule: Sendable {
  private let interval: Duration
  private var reports: [Channel: Feedback] = [:]
  private var changed: Set<Channel> = []
  private var next: Instant?

  init(interval: Duration) { self.interval = interval }

  /// Nil while nothing new has arrived.
  var nextDeadline: Instant? { changed.isEmpty ? nil : next }

  mutating func arrived(
    _ channel: Channel, sequence: UInt32, bytes: Int, lostSoFar: UInt64, at now: Instant
  ) {
    let last = reports[channel]
    reports[channel] = Feedback(
      channel: channel, highestSequence: sequence, arrived: now, unitsReceived: (last?.unitsReceived ?? 0) &+ 1,
      unitsLost: UInt32(truncatingIfNeeded: lostSoFar),
      bytesReceived: (last?.bytesReceived ?? 0) &+ UInt64(bytes))
    // An interval of its own begins with the first unit after a pause.
    if changed.isEmpty { next = max(next ?? .distantPast, now + interval) }
    changed.insert(channel)
  }

  /// The reports that are due, most urgent channel first.
  mutating func timeout(at now: Instant) -> [Feedback] {
    guard let deadline = nextDeadline, deadline <= now else { return [] }
    defer { changed.removeAll() }
    return Channel.allCases.filter(changed.contains).compactMap { reports[$0] }
  }
}
