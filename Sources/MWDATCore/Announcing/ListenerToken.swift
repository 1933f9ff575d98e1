import Synchronization

/// The handle of one subscription. Releasing the last reference to it cancels.
public protocol AnyListenerToken: Sendable {
  /// Ends the subscription: no call of the listener begins after this has returned. So a call that is under way is waited
  /// for, a second at most: a listener may cancel its own token, or block. Idempotent; any thread.
  ///
  /// Releasing the token ends the subscription as well, and waits for nothing: a call that was just beginning goes on.
  func cancel() async
}

extension AnyListenerToken {
  /// Gives the token to a bag, which keeps it, and with it the subscription, alive.
  public func store(in bag: ListenerTokenBag) { bag.insert(self) }
}

/// The token that every announcer of this package hands out.
package final class ListenerToken: AnyListenerToken {
  /// Nil once cancelled, so that the subscription's memory goes with the cancellation and not with the token.
  private let action: Mutex<(@Sendable () -> Void)?>
  /// What the listener's calls go through.
  private let gate: CallGate

  /// Calls back when what waits has been heard; nil where nothing waits for one listener alone.
  private let drain: (@Sendable (@escaping @Sendable () -> Void) -> Void)?

  /// - Parameters:
  ///   - drain: what `drained` does.
  ///   - action: ends the subscription beyond closing the gate; called once at most, on the thread that cancels or
  ///     releases, and must not block.
  package init(
    _ gate: CallGate, drain: (@Sendable (@escaping @Sendable () -> Void) -> Void)? = nil,
    _ action: @escaping @Sendable () -> Void
  ) {
    self.gate = gate
    self.drain = drain
    self.action = Mutex(action)
  }

  deinit { cancelNow() }

  /// `cancel()` for callers that can't await: marks, and doesn't wait.
  package func cancelNow() {
    // First, so that it holds for everybody who cancels, whoever's turn it is to clean up.
    gate.close()
    let action = action.withLock { action in
      defer { action = nil }
      return action
    }
    action?()
  }

  package func cancel() async {
    cancelNow()
    await gate.settled()
  }

  /// Calls `then` once, when the listener has heard what was sent to it before, or is cancelled: on its thread, on the one
  /// that cancels, or at once. It may only queue work elsewhere.
  package func drained(_ then: @escaping @Sendable () -> Void) {
    guard let drain else { return then() }
    drain(then)
  }
}
