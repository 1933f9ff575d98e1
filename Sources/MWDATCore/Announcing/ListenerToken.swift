import Synchronization

/// The handle of one subscription. Releasing the last reference to it cancels.
public protocol AnyListenerToken: Sendable {
  /// Ends the subscription: no call of the listener begins after this has returned. A call that had begun before is
  /// not waited for, so a listener may cancel its own token. Idempotent; any thread.
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

  /// - Parameter action: ends the subscription; called once at most, on the thread that cancels or releases, and must
  ///   not block.
  package init(_ action: @escaping @Sendable () -> Void) { self.action = Mutex(action) }

  deinit { cancelNow() }

  /// `cancel()` for callers that can't await.
  package func cancelNow() {
    let action = action.withLock { action in
      defer { action = nil }
      return action
    }
    action?()
  }

  package func cancel() async { cancelNow() }
}
