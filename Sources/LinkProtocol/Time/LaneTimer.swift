import Synchronization

/// The handle of work that waits for a deadline on a lane. It holds the work, so that cancelling lets go at once of
/// what the work holds, however far the deadline is.
package final class LaneTimer: Sendable {
  /// Not bare, since a generic container would wrap it once more.
  private struct Work {
    let run: @Sendable () -> Void
  }

  private let work: Mutex<Work?>

  /// For lanes: the work is begun by `take`.
  package init(_ work: @escaping @Sendable () -> Void) { self.work = Mutex(Work(run: work)) }

  /// One that has nothing to do: what an ended lane returns.
  package init() { work = Mutex(nil) }

  /// The work will not begin after this has returned, unless it has begun already. Idempotent; any thread.
  package func cancel() { _ = take() }

  /// True once it was cancelled or has begun.
  package var isSpent: Bool { work.withLock { $0 == nil } }

  /// The work, for the one caller that gets to begin or drop it.
  package func take() -> (@Sendable () -> Void)? {
    // Released by the caller, outside the lock: it may release objects whose deinit comes back here.
    work.withLock { $0.take() }?.run
  }
}
