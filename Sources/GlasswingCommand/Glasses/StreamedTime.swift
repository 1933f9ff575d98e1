import LinkProtocol
import Synchronization
import Units

/// How long pictures have been coming: from the first one on, until told that it is over.
final class StreamedTime: Sendable {
  private struct State {
    var first: Instant?
    var last: Instant?
  }

  private let timekeeper: any Timekeeper
  private let state = Mutex(State())

  init(timekeeper: any Timekeeper) { self.timekeeper = timekeeper }

  /// - Returns: the time now, for the first picture; nil for others.
  func sawPicture() -> Instant? {
    let now = timekeeper.now
    return state.withLock { state in
      guard state.first == nil else { return nil }
      state.first = now
      return now
    }
  }

  func end() {
    let now = timekeeper.now
    state.withLock { $0.last = $0.last ?? now }
  }

  var elapsed: Duration {
    let now = timekeeper.now
    return state.withLock { state in state.first.map { (state.last ?? now) - $0 } ?? .zero }
  }
}
