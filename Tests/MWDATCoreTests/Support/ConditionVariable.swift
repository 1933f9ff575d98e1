import Foundation

/// Blocks a thread that a test owns until something has become true.
///
/// `@unchecked Sendable`: `NSCondition` is safe to use from any thread.
final class ConditionVariable: @unchecked Sendable {
  private let condition = NSCondition()

  func wait(until isTrue: () -> Bool) {
    condition.lock()
    while !isTrue() { condition.wait() }
    condition.unlock()
  }

  func signal() {
    condition.lock()
    condition.broadcast()
    condition.unlock()
  }
}
