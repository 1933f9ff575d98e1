import LinkProtocol
import Synchronization
import Units

/// A lane that can move to another timekeeper's lane, for announcers that outlive the environment they tell of.
///
/// What was queued goes along, in order, and nothing overlaps: work that still runs on the old lane ends before the
/// next begins on the new one. Deadlines stay behind: `run(at:)` runs on whichever lane is in place when called.
final class RelocatableLane: Lane {
  private struct State {
    var lane: any Lane
    var queue: [@Sendable () -> Void] = []
    var isRunning = false
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
      schedule(on: state.lane)
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
      for _ in state.queue { schedule(on: state.lane) }
    }
  }

  /// One turn for each queued work. Weak: a lane that is never run again must not keep this one.
  private func schedule(on lane: any Lane) {
    lane.run { [weak self] in self?.runNext() }
  }

  private func runNext() {
    let work: (@Sendable () -> Void)? = state.withLock { state in
      // Running on the old lane still: it takes the next turn itself when it is done.
      guard !state.isRunning, !state.queue.isEmpty else { return nil }
      state.isRunning = true
      return state.queue.removeFirst()
    }
    guard let work else { return }
    work()
    state.withLock { state in
      state.isRunning = false
      if !state.queue.isEmpty { schedule(on: state.lane) }
    }
  }
}
