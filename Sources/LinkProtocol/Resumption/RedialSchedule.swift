import Units

/// When the client of a resumable stream has to look for a new connection. Pure; told the time.
///
/// A connection that broke is replaced at once. One on which nothing is heard may be dead without knowing it (a cable
/// pulled, an address gone), and its own repeats come ever more seldom; so after some quiet another one is tried beside it,
/// again and again, and whichever speaks first carries on. That is what brings a stream back within a second of the
/// network's return.
package struct RedialSchedule: Hashable, Sendable {
  /// Quiet after which a connection is no longer trusted. The link above asks for a sign of life after one second.
  package static let quiet: Duration = .milliseconds(2500)
  /// Between two tries. A try needs two or three round trips.
  package static let interval: Duration = .milliseconds(500)
  /// How long a try that is up may take to carry on, before the next one is asked: over a slow link each takes long, and
  /// a later one must not end an earlier one that is about to succeed.
  package static let answer: Duration = .seconds(2)
  /// Tries under way at a time; the oldest gives way.
  package static let most = 4

  private enum State: Hashable, Sendable {
    /// The first connection: whether it comes is all there is to know.
    case first
    case heard(Instant)
    case seeking(next: Instant)
    /// A try is up and asks for the stream.
    case asking(until: Instant)
    case over
  }

  private var state = State.first

  package init() {}

  /// The stream has a connection, or something came on it.
  package mutating func heard(at now: Instant) {
    if state != .over { state = .heard(now) }
  }

  /// A try is up.
  ///
  /// - Returns: whether it is to ask for the stream: not while another one does.
  package mutating func cameUp(at now: Instant) -> Bool {
    switch state {
    case .first, .seeking:
      state = .asking(until: now + Self.answer)
      return true
    case .asking(let until) where until <= now:
      state = .asking(until: now + Self.answer)
      return true
    case .asking, .heard, .over: return false
    }
  }

  /// The connection that carried the stream, or asked for it, broke.
  package mutating func lost(at now: Instant) {
    switch state {
    case .heard, .asking: state = .seeking(next: now)
    case .first, .seeking, .over: break
    }
  }

  package mutating func end() { state = .over }

  /// - Returns: whether a try is due.
  package mutating func isDue(at now: Instant) -> Bool {
    guard let deadline = nextDeadline, deadline <= now else { return false }
    state = .seeking(next: now + Self.interval)
    return true
  }

  /// When to ask `isDue` again; nil for never, unless something happens.
  package var nextDeadline: Instant? {
    switch state {
    case .first, .over: nil
    case .heard(let last): last + Self.quiet
    case .seeking(let next): next
    case .asking(let until): until
    }
  }
}
