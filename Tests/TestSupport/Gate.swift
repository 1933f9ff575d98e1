import Foundation

/// Holds threads up while it is closed.
///
/// `@unchecked` since `NSCondition` is not said to be Sendable: it guards `isOpen`.
package final class Gate: @unchecked Sendable {
  private let condition = NSCondition()
  private var isOpen: Bool

  package init(isOpen: Bool = false) { self.isOpen = isOpen }

  package func open() { set(true) }
  package func close() { set(false) }

  /// Returns once the gate is open.
  package func wait() {
    condition.lock()
    while !isOpen { condition.wait() }
    condition.unlock()
  }

  private func set(_ value: Bool) {
    condition.lock()
    isOpen = value
    condition.broadcast()
    condition.unlock()
  }
}
