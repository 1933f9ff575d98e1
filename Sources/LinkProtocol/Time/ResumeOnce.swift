import Synchronization
import Units

/// A continuation that several ends race to resume: the first wins, the others are no-ops.
///
/// A value that arrives before the continuation is stored is kept for it.
package final class ResumeOnce<Value: Sendable>: Sendable {
  private enum State {
    case empty
    case waiting(CheckedContinuation<Value, Never>)
    case early(Value)
    case done
  }

  private let state = Mutex<State>(.empty)

  package init() {}

  package func store(_ continuation: CheckedContinuation<Value, Never>) {
    let early: Value? = state.withLock { state in
      switch state {
      case .empty:
        state = .waiting(continuation)
        return nil
      case .early(let value):
        state = .done
        return value
      case .waiting, .done:
        // Storing twice is our own bug; the continuation checker names it.
        return nil
      }
    }
    if let early { continuation.resume(returning: early) }
  }

  /// Waits for the value. Once, in place of `store`.
  package func value() async -> Value { await withCheckedContinuation { store($0) } }

  /// Waits for the value, but no longer than this: then it is `other`. Once, in place of `store`.
  package func value(within limit: Duration, on timekeeper: any Timekeeper, else other: Value) async -> Value {
    let lane = timekeeper.makeLane("deadline")
    defer { lane.end() }
    lane.run(at: timekeeper.now + limit) { self.resume(with: other) }
    return await value()
  }

  /// True for the one call that decided the value.
  @discardableResult
  package func resume(with value: Value) -> Bool {
    let (continuation, won): (CheckedContinuation<Value, Never>?, Bool) = state.withLock { state in
      switch state {
      case .empty:
        state = .early(value)
        return (nil, true)
      case .waiting(let continuation):
        state = .done
        return (continuation, true)
      case .early, .done:
        return (nil, false)
      }
    }
    continuation?.resume(returning: value)
    return won
  }
}
