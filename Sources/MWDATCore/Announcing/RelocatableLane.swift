import LinkProtocol
import Synchronization
import Units

/// A lane that can move to another timekeeper's lane, for announcers that outlive the environment they tell of.
///
/// What was queued goes along, in order, and nothing overlaps: work that still runs on the old lane ends before the
/// next begins on the new one. Deadlines stay behind: `run(at:)` runs on whichever lane is in place when called.
final class RelocatableLane: Lane {
  private enum Turn { case none, queued, running }

  private struct State {
    var lane: any Lane
    var queue: [@Sendable () -> Void] = []
    /// The one turn on a lane that takes the next work.
    var turn = Turn.none
    var hasEnded = false
  }

  let name: String
  private let state: Mutex<State>

  init(name: String, timekeeper: any Timekeeper) {
    self.name = name
    state = Mutex(State(lane: timekeeper.makeLane(name)))
  }

  deinit { state.withLock { $0.lane.end() } }

  func run(_ work: @escaping @Sendable () -> Void) {
    state.withLock { state in
      guard !state.hasEnded else { return }
      state.queue.append(work)
      if state.turn == .none { queueTurn(&state) }
    }
  }

  func run(at deadline: Instant, _ work: @escaping @Sendable () -> Void) -> LaneTimer {
    state.withLock { $0.lane }.run(at: deadline, work)
  }

  func end() {
    let dropped = state.withLock { state in
      state.hasEnded = true
      state.lane.end()
      defer { state.queue = [] }
      return state.queue
    }
    withExtendedLifetime(dropped) {}
  }

  func move(to timekeeper: any Timekeeper) {
    state.withLock { state in
      guard !state.hasEnded else { return }
      state.lane.end()
      state.lane = timekeeper.makeLane(name)
      // A turn that runs queues the next one on the new lane itself.
      if state.turn == .queued { queueTurn(&state) }
    }
  }

  /// With the lock held. Weak: a lane that is never run again must not keep this one.
  private func queueTurn(_ state: inout State) {
    state.turn = .queued
    state.lane.run { [weak self] in self?.takeTurn() }
  }

  private func takeTurn() {
    let work: (@Sendable () -> Void)? = state.withLock { state in
      // Else a turn of the old lane, which had begun when the lane was replaced.
      guard state.turn == .queued, !state.queue.isEmpty else { return nil }
      state.turn = .running
      return state.queue.removeFirst()
    }
    guard let work else { return }
    work()
    state.withLock { state in
      state.turn = .none
      if !state.queue.isEmpty { queueTurn(&state) }
    }
  }
}
