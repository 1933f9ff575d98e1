import LinkProtocol
import LinkTransport
import Synchronization
import Units

/// Everything that something published, in order; a test awaits what it needs with a deadline.
///
///     let states = Observed<StreamState>()
///     stream.statePublisher.listen { states.record($0) }.store(in: tokens)
///     try await states.wait { $0.last == .streaming }
package final class Observed<Value: Sendable>: Sendable {
  private struct Waiter {
    let number: Int
    let condition: @Sendable ([Value]) -> Bool
    let gate: ResumeOnce<Bool>
  }

  private struct State {
    var values: [Value] = []
    var waiters: [Waiter] = []
    var nextNumber = 0
  }

  private let state = Mutex(State())

  package init() {}

  package var values: [Value] { state.withLock { $0.values } }

  package func record(_ value: Value) {
    let met: [ResumeOnce<Bool>] = state.withLock { state in
      state.values.append(value)
      let values = state.values
      let met = state.waiters.filter { $0.condition(values) }
      state.waiters.removeAll { waiter in met.contains { $0.number == waiter.number } }
      return met.map(\.gate)
    }
    for gate in met { gate.resume(with: true) }
  }

  /// Returns once the values so far meet the condition; throws, with what was seen, when the deadline comes first. Under
  /// the thread sanitizer that is ten times as far away. The usual one is far: a task may wait for its turn behind every
  /// other test.
  package func wait(
    _ what: String = "the awaited value", within limit: Duration = .seconds(180),
    until condition: @escaping @Sendable ([Value]) -> Bool
  ) async throws {
    let gate = ResumeOnce<Bool>()
    let number: Int? = state.withLock { state in
      guard !condition(state.values) else { return nil }
      defer { state.nextNumber += 1 }
      state.waiters.append(Waiter(number: state.nextNumber, condition: condition, gate: gate))
      return state.nextNumber
    }
    guard let number else { return }
    let limit = limit * (ThreadSanitizer.isOn ? 10 : 1)
    let timekeeper = SystemTimekeeper.shared
    let lane = timekeeper.makeLane("test deadline")
    lane.run(at: timekeeper.now + limit) { gate.resume(with: false) }
    defer { lane.end() }
    let met = await withCheckedContinuation { gate.store($0) }
    guard !met else { return }
    state.withLock { state in state.waiters.removeAll { $0.number == number } }
    throw DeadlinePassed(what: what, limit: limit, seen: values.suffix(20).map { "\($0)" })
  }

  /// Awaits the first value that meets the condition, and returns it.
  package func first(
    _ what: String = "the awaited value", within limit: Duration = .seconds(180),
    where condition: @escaping @Sendable (Value) -> Bool = { _ in true }
  ) async throws -> Value {
    try await wait(what, within: limit) { $0.contains(where: condition) }
    guard let value = values.first(where: condition) else {
      throw DeadlinePassed(what: what, limit: limit, seen: [])
    }
    return value
  }
}

package struct DeadlinePassed: Error, CustomStringConvertible {
  let what: String
  let limit: Duration
  let seen: [String]

  package var description: String { "\(what) did not come within \(limit); seen last: \(seen)" }
}
