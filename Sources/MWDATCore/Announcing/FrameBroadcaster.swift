import LinkProtocol
import Synchronization

/// An announcer for media: each listener has a lane of its own, so a slow one costs only itself.
///
/// Contract
/// - Each listener hears in order, one call at a time. While it is busy, the newest `limit` values wait for it; an
///   older one is dropped and counted (`statistics`). So it never holds more than `limit` values beside the one it is
///   looking at.
/// - A listener's lane, and the thread under it, goes with its token; what waited is freed.
/// - No call begins after the token was cancelled or released.
/// - Without listeners `send` does nothing; a maker of values can ask `hasListeners` first, and hears of changes.
package final class FrameBroadcaster<T: Sendable>: Announcer, Sendable {
  /// What happened to `hasListeners` or to the number of listeners.
  package enum ListenersChange: Sendable { case added, removed }

  /// What one listener has had so far, or all that ever listened together.
  package struct Statistics: Hashable, Sendable {
    /// Calls that have begun.
    package var delivered = 0
    /// Values that a newer one pushed out before the listener was free, and those that waited when it left.
    package var dropped = 0
    package init() {}
  }

  private struct State {
    var listeners: [FrameListener<T>] = []
    /// What listeners had that have left.
    var gone = Statistics()
    var onListenersChanged: (@Sendable (ListenersChange) -> Void)?
  }

  private let name: String
  private let limit: Int
  private let timekeeper: any Timekeeper
  private let state = Mutex(State())

  /// - Parameters:
  ///   - name: of the listeners' lanes.
  ///   - limit: how many values may wait for one listener; at least 1.
  package init(name: String, timekeeper: any Timekeeper, limit: Int = 3) {
    self.name = name
    self.timekeeper = timekeeper
    self.limit = max(1, limit)
  }

  deinit {
    for listener in state.withLock({ $0.listeners }) { listener.cancel() }
  }

  package var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

  /// Called after each change, on the thread that listened or cancelled, with no lock held. Two changes at once may
  /// be told in either order: ask `hasListeners` for the outcome.
  package func onListenersChanged(_ handler: (@Sendable (ListenersChange) -> Void)?) {
    let old = state.withLock { state in
      defer { state.onListenersChanged = handler }
      return state.onListenersChanged
    }
    withExtendedLifetime(old) {}
  }

  /// All listeners together, those that have left included.
  package var statistics: Statistics {
    state.withLock { state in
      state.listeners.reduce(into: state.gone) { sum, listener in
        let one = listener.statistics
        sum.delivered += one.delivered
        sum.dropped += one.dropped
      }
    }
  }

  /// One for each present listener, oldest first.
  package var listenerStatistics: [Statistics] { state.withLock { $0.listeners.map(\.statistics) } }

  package func listen(_ listener: @escaping @Sendable (T) -> Void) -> any AnyListenerToken {
    let entry = FrameListener(limit: limit, lane: timekeeper.makeLane(name), hear: listener)
    let changed = state.withLock { state in
      state.listeners.append(entry)
      return state.onListenersChanged
    }
    changed?(.added)
    // Weak: a token kept for ever must not keep a stream's frames and threads.
    return ListenerToken { [weak self] in
      entry.cancel()
      self?.remove(entry)
    }
  }

  /// Hands the value to each listener's queue. Any thread; never blocks; no allocation while a listener is busy.
  package func send(_ value: T) {
    for listener in state.withLock({ $0.listeners }) { listener.offer(value) }
  }

  private func remove(_ entry: FrameListener<T>) {
    let (removed, changed) = state.withLock { state in
      let removed = state.listeners.firstIndex { $0 === entry }.map { state.listeners.remove(at: $0) }
      if removed != nil {
        let statistics = entry.statistics
        state.gone.delivered += statistics.delivered
        state.gone.dropped += statistics.dropped
      }
      return (removed, state.onListenersChanged)
    }
    if removed != nil { changed?(.removed) }
  }
}

/// One listener of a `FrameBroadcaster`: its lane and what waits for it.
private final class FrameListener<T: Sendable>: Sendable {
  private struct Mailbox {
    /// Oldest first; `limit` at most.
    var waiting: [T] = []
    /// A drain is queued on the lane or runs there.
    var isDraining = false
    var isCancelled = false
    var statistics = FrameBroadcaster<T>.Statistics()
  }

  private let limit: Int
  private let lane: any Lane
  private let hear: @Sendable (T) -> Void
  private let mailbox: Mutex<Mailbox>

  init(limit: Int, lane: any Lane, hear: @escaping @Sendable (T) -> Void) {
    self.limit = limit
    self.lane = lane
    self.hear = hear
    var mailbox = Mailbox()
    mailbox.waiting.reserveCapacity(limit)
    self.mailbox = Mutex(mailbox)
  }

  var statistics: FrameBroadcaster<T>.Statistics { mailbox.withLock { $0.statistics } }

  func offer(_ value: T) {
    let (dropped, starts): (T?, Bool) = mailbox.withLock { mailbox in
      guard !mailbox.isCancelled else { return (nil, false) }
      var dropped: T?
      if mailbox.waiting.count >= limit {
        dropped = mailbox.waiting.removeFirst()
        mailbox.statistics.dropped += 1
      }
      mailbox.waiting.append(value)
      defer { mailbox.isDraining = true }
      return (dropped, !mailbox.isDraining)
    }
    // Freed here, outside the lock: the last reference may return a buffer to its pool.
    withExtendedLifetime(dropped) {}
    if starts { lane.run { self.drain() } }
  }

  func cancel() {
    let dropped = mailbox.withLock { mailbox in
      mailbox.isCancelled = true
      mailbox.statistics.dropped += mailbox.waiting.count
      defer { mailbox.waiting = [] }
      return mailbox.waiting
    }
    withExtendedLifetime(dropped) {}
    lane.end()
  }

  private func drain() {
    while let value = next() { hear(value) }
  }

  private func next() -> T? {
    mailbox.withLock { mailbox in
      // Empty for good once cancelled.
      guard !mailbox.waiting.isEmpty else {
        mailbox.isDraining = false
        return nil
      }
      mailbox.statistics.delivered += 1
      return mailbox.waiting.removeFirst()
    }
  }
}
