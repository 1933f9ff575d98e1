import LinkProtocol
import Synchronization

/// An announcer whose listeners all run on one lane, in the order of what was sent; nothing is dropped.
///
/// For states, errors and results, which are few. Contract
/// - A listener hears what is sent after `listen` was called, and nothing older, unless it asked for a replay.
/// - `send` only queues on the lane, so it may be called under the lock that guards the state it tells of; then the
///   order of the calls is the order of the changes.
/// - No call of a listener begins after its token was cancelled or released (`CallGate`).
/// - After `finish()` streams end, once they have had what was sent before; what is sent later is lost.
package final class Broadcaster<T: Sendable>: Announcer, Sendable {
  private final class Listener: Sendable {
    private struct Closures {
      let hear: @Sendable (T) -> Void
      let finished: (@Sendable () -> Void)?
    }

    /// Nil once cancelled: what the closures hold goes then, whoever holds the token.
    private let closures: Mutex<Closures?>
    let gate = CallGate()

    init(hear: @escaping @Sendable (T) -> Void, finished: (@Sendable () -> Void)?) {
      closures = Mutex(Closures(hear: hear, finished: finished))
    }

    func tell(_ value: T) {
      gate.call {
        closures.withLock { $0 }?.hear(value)
      }
    }

    func finish() { take()?.finished?() }

    func cancel() { withExtendedLifetime(take()) {} }

    /// Out of the lock, since the closures' release may run code that comes back.
    private func take() -> Closures? { closures.withLock { $0.take() } }
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
      guard !state.isFinished, !state.listeners.isEmpty else { return }
      let listeners = state.listeners
      lane.run {
        for listener in listeners { listener.tell(value) }
      }
    }
  }

  /// Only queues, as `send` does.
  package func finish() {
    state.withLock { state in
      guard !state.isFinished else { return }
      state.isFinished = true
      lane.run { self.dropListeners() }
    }
  }

  /// On the lane, with no lock held: listeners' closures go here, and what they own may have deinitialisers that come
  /// back.
  private func dropListeners() {
    let listeners = state.withLock { state in
      defer { state.listeners = [] }
      return state.listeners
    }
    for listener in listeners { listener.finish() }
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
    return ListenerToken(listener.gate) { [self] in
      listener.cancel()
      remove(listener)
      withExtendedLifetime(owner) {}
    }
  }

  private func remove(_ listener: Listener) {
    let removed = state.withLock { state in
      state.listeners.firstIndex { $0 === listener }.map { state.listeners.remove(at: $0) }
    }
    withExtendedLifetime(removed) {}
  }
}
