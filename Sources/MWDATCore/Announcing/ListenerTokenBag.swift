import Synchronization

/// Keeps tokens, and with them their subscriptions, alive.
///
/// Dropping the bag is `clear()`.
public actor ListenerTokenBag {
  private struct Contents {
    var tokens: [(number: UInt64, token: any AnyListenerToken)] = []
    var nextNumber: UInt64 = 0
  }

  /// Beside the actor's isolation, since `insert` and `clear` don't await.
  private nonisolated let contents = Mutex(Contents())

  /// An empty bag.
  public init() {}

  deinit { clear() }

  /// Keeps a token; nil is ignored. Any thread.
  public nonisolated func insert(_ token: (any AnyListenerToken)?) {
    guard let token else { return }
    contents.withLock { contents in
      contents.tokens.append((contents.nextNumber, token))
      contents.nextNumber &+= 1
    }
  }

  /// Drops the tokens in the order in which they were inserted. A token that nobody else holds is cancelled by that;
  /// one that is held elsewhere lives on. Any thread.
  public nonisolated func clear() {
    var dropped = contents.withLock { contents in
      defer { contents.tokens = [] }
      return contents.tokens
    }
    // One by one, outside the lock: each release cancels, and may run code that comes back here.
    dropped.reverse()
    while dropped.popLast() != nil {}
  }

  /// Cancels each token that is in the bag at the call, in the order of insertion, awaiting one after the other; then
  /// drops them. After it has returned none of their listeners is subscribed, whoever else holds the token.
  ///
  /// What is inserted meanwhile stays.
  public func cancelAll() async {
    let (tokens, end) = contents.withLock { ($0.tokens, $0.nextNumber) }
    for (_, token) in tokens { await token.cancel() }
    // The bag keeps them till here, so that a second caller awaits the same cancellations.
    let dropped = contents.withLock { contents in
      let kept = contents.tokens.filter { $0.number >= end }
      defer { contents.tokens = kept }
      return contents.tokens
    }
    withExtendedLifetime(dropped) {}
  }
}
