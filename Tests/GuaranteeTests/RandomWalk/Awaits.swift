import LinkProtocol
import Synchronization
import TestSupport
import Units

/// The asynchronous calls of a walk, each with the time by which it has to have returned, thrown or been cancelled.
final class Awaits: Sendable {
  private struct Entry: Sendable {
    let name: String
    let number: Int
    let deadline: Instant
    let task: Task<Void, Never>
  }

  private struct State {
    var entries: [Entry] = []
    var nextNumber = 0
  }

  private let judge: WalkJudge
  private let state = Mutex(State())
  private let ended = Observed<Int>()

  init(_ judge: WalkJudge) { self.judge = judge }

  /// Begins a call, which has so long from now. By hand it has run up to its first suspension when this returns.
  @discardableResult
  func begin(
    _ name: String, within bound: Duration, _ call: @escaping @Sendable () async -> Void
  ) -> Task<Void, Never> {
    let number = state.withLock { state in
      defer { state.nextNumber += 1 }
      return state.nextNumber
    }
    let task = Task.immediate { [ended] in
      await call()
      ended.record(number)
    }
    let entry = Entry(name: name, number: number, deadline: judge.now + bound + judge.strictness.slack, task: task)
    state.withLock { $0.entries.append(entry) }
    return task
  }

  /// Reports the calls whose time is up. Where time is moved by hand, their tasks are given real time to get to their
  /// end.
  func check() async {
    let now = judge.now
    let overdue = state.withLock { state in
      let overdue = state.entries.filter { $0.deadline <= now }
      state.entries.removeAll { $0.deadline <= now }
      return overdue
    }
    for entry in overdue where !(await hasEnded(entry)) {
      judge.report(["\(entry.name) has not returned in time"])
      entry.task.cancel()
    }
  }

  private func hasEnded(_ entry: Entry) async -> Bool {
    let number = entry.number
    return (try? await ended.wait("\(entry.name)", within: .seconds(10)) { $0.contains(number) }) != nil
  }

  /// Gives up what is still under way; each has to end by that.
  func cancelAll() async {
    let entries = state.withLock { state in
      defer { state.entries = [] }
      return state.entries
    }
    for entry in entries { entry.task.cancel() }
    for entry in entries where !(await hasEnded(entry)) { judge.report(["\(entry.name) did not end when cancelled"]) }
  }
}
