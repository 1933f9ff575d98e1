import Synchronization

/// The handle of work that waits for a deadline on a lane.
package final class LaneTimer: Sendable {
  private let cancelled = Atomic<Bool>(false)

  package init() {}

  /// The work will not begin after this has returned, unless it has begun already. Idempotent; any thread.
  package func cancel() { cancelled.store(true, ordering: .releasing) }

  package var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
}
