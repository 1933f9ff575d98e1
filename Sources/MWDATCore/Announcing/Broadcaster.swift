import LinkProtocol
import Synchronization

/// An announcer whose listeners all run on one lane, in the order of what was sent; nothing is dropped.
///
/// For states, errors and results, which are few. Contract
/// - A listener hears what is sent after `listen` was called, and nothing older, unless it asked for a replay.
/// - `send` only queues on the lane, so it may be called under the lock that guards the state it tells of; then the
///   order of the calls is the order of the changes.
/// - No call of a listener begins after its token was cancelled or released.
/// - After `finish()` streams end, once they have had what was sent before; what is sent later is lost.
package final class Broadcaster<T: Sendable>: Announcer, Sendable {
  private final class Listener: Sendable {
    let hear: @Sendable (T) -> Void
    let finished: (@Sendable () -> Void)?
    private let cancelled = Atomic<Bool>(false)

    init(hear: @escaping @Sendable (T) -> Void, finished: (@Sendable () -> Void)?) {
      self.hear = hear
      self.finished = finished
    }

    func cancel() { cancelled.store(true, ordering: .releasing) }
    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    func tell(_ value: T) {
      guard !isCancelled else { return }
      hear(value)
    }
  }

  private struct State {
    var listeners: [Listener] = []
    var isFinished = false
  }

  private let lane: any Lane
  private let state = Mutex(State())

  package init(lane: any Lane) { self.lane = lane }

  package var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

  package func listen(_ listener: @escaping @Sendable (T) -> Void) -> any AnyListenerToken {
    subscribe(replaying: nil, keeping: nil, hear: listener, finished: nil)
  }

  /// As `listen`, with `value` first if there is one: call it under the lock that guards the value, and nothing is missed
  /// or repeated. The token keeps `owner` alive.
  package func listen(
    replaying value: T? = nil, keeping owner: (any AnyObject & Sendable)? = nil,
    _ listener: @escaping @Sendable (T) -> Void
  ) -> any AnyListenerToken {
    subscribe(replaying: value, keeping: owner, hear: listener, finished: nil)
  }

  /// A stream of what is sent from now on, after `value` if there is one; it keeps all that its reader has not taken
  /// yet. Ends with `finish()`.
  package func stream(replaying value: T? = nil) -> AsyncStream<T> {
    let (stream, continuation) = AsyncStream.makeStream(of: T.self)
    if let value { continuation.yield(value) }
    let token = subscribe(
      replaying: nil, keeping: nil, hear: { continuation.yield($0) }, finished: { continuation.finish() })
    continuation.onTermination = { _ in token.cancelNow() }
    return stream
  }

  package func send(_ value: T) {
    state.withLock { state in
      guard !state.listeners.isEmpty else { return }
      let listeners = state.listeners
      lane.run {
        for listener in listeners { listener.tell(value) }
      }
    }
  }

  package func finish() {
    let listeners = state.withLock { state in
      defer { state.listeners = [] }
      let listeners = state.listeners
      state.isFinished = true
      if listeners.contains(where: { $0.finished != nil }) {
        lane.run {
          for listener in listeners { listener.finished?() }
        }
      }
      return listeners
    }
    withExtendedLifetime(listeners) {}
  }

  private func subscribe(
    replaying value: T?, keeping owner: (any AnyObject & Sendable)?, hear: @escaping @Sendable (T) -> Void,
    finished: (@Sendable () -> Void)?
  ) -> ListenerToken {
    let listener = Listener(hear: hear, finished: finished)
    let isFinished = state.withLock { state in
      guard !state.isFinished else { return true }
      state.listeners.append(listener)
      if let value { lane.run { listener.tell(value) } }
      return false
    }
    if isFinished { finished?() }
    return ListenerToken { [self] in
      listener.cancel()
      remove(listener)
      withExtendedLifetime(owner) {}
    }
  }

  private func remove(_ listener: Listener) {
    // Handed out of the lock: its closure may own tokens of this very announcer, whose release comes back here.
    let removed = state.withLock { state in
      state.listeners.firstIndex { $0 === listener }.map { state.listeners.remove(at: $0) }
    }
    withExtendedLifetime(removed) {}
  }
}
