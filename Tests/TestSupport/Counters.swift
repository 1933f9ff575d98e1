import Synchronization

/// A number that closures of any thread share.
package final class Counter: Sendable {
  private let number: Atomic<Int>

  package init(_ value: Int = 0) { number = Atomic(value) }

  package var value: Int { number.load(ordering: .acquiring) }
  package func add(_ amount: Int = 1) { number.add(amount, ordering: .acquiringAndReleasing) }
}

/// Counts how often a body began while another had not ended.
package final class OverlapDetector: Sendable {
  private let running = Atomic<Int>(0)
  private let found = Atomic<Int>(0)

  package init() {}

  package var overlaps: Int { found.load(ordering: .acquiring) }

  package func run(_ body: () -> Void) {
    if running.add(1, ordering: .acquiringAndReleasing).oldValue != 0 {
      found.add(1, ordering: .acquiringAndReleasing)
    }
    body()
    running.subtract(1, ordering: .acquiringAndReleasing)
  }
}
