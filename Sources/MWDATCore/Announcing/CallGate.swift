import LinkProtocol
import LinkTransport
import Synchronization
import Units

/// Whether calls of one listener may begin, and when none can begin any more.
///
/// Contract
/// - Whether the subscription stands is looked at and a call let in by one step: once `close()` has returned, no further
///   body runs. Any thread; it never waits, so it serves a token that is released as well.
/// - A body that was let in just before may have its first instruction still ahead of it, which nobody outside can tell
///   from one that ran a while ago. So `settled()` returns when none is left inside.
/// - No lock is held while a body runs, so a listener may cancel its own subscription or another's, in any way. One that
///   doesn't come back, perhaps since it waits for this very cancellation, is waited for no longer than `patience`: it
///   began long ago.
package final class CallGate: Sendable {
  /// How long a call that has been let in may be on its way to its first instruction: as long as a busy machine lets a
  /// thread that can run stand.
  package static let patience: Duration = .seconds(1)

  private let patience: Duration

  private struct State {
    var isOpen = true
    /// Bodies inside: one at a time where a lane runs them.
    var calls = 0
    var waiters: [(number: UInt64, continuation: CheckedContinuation<Void, Never>)] = []
    var lastWaiter: UInt64 = 0
  }

  private let state = Mutex(State())

  package init(patience: Duration = CallGate.patience) { self.patience = patience }

  /// Runs `body`, and returns what it does; nil, and nothing runs, once closed.
  @discardableResult
  package func call<R>(_ body: () -> R) -> R? {
    let isOpen = state.withLock { state in
      if state.isOpen { state.calls += 1 }
      return state.isOpen
    }
    guard isOpen else { return nil }
    defer { leave() }
    return body()
  }

  package func close() { state.withLock { $0.isOpen = false } }

  /// After `close()`: returns when no body can begin any more.
  package func settled() async {
    guard state.withLock({ $0.calls > 0 }) else { return }
    // Real time, whatever time the listener is called by: it is about threads. A lane of its own, since the one that the
    // listener is called on may be blocked by it.
    let timekeeper = SystemTimekeeper.shared
    let lane = timekeeper.makeLane("cancel")
    await withCheckedContinuation { continuation in
      let number: UInt64? = state.withLock { state in
        guard state.calls > 0 else { return nil }
        state.lastWaiter += 1
        state.waiters.append((state.lastWaiter, continuation))
        return state.lastWaiter
      }
      guard let number else { return continuation.resume() }
      lane.run(at: timekeeper.now + patience) { [weak self] in self?.giveUp(number) }
    }
    lane.end()
  }

  private func leave() {
    let waiters = state.withLock { state in
      state.calls -= 1
      guard state.calls == 0 else { return [] as [(number: UInt64, continuation: CheckedContinuation<Void, Never>)] }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.continuation.resume() }
  }

  private func giveUp(_ number: UInt64) {
    let waiter = state.withLock { state in
      state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
    }
    waiter?.continuation.resume()
  }
}
