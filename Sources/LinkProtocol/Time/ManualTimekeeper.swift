import Synchronization
import Units

/// A timekeeper whose clock only moves when it is told to.
///
/// All its lanes run inside `advance`, on the calling thread: first what is ready, in the order of the calls that
/// queued it, then deadline by deadline, the clock standing at each deadline while its work runs. So one program gives
/// one order of events, however busy the machine is, and `advance` returns when everything due has been done.
/// Work queued by tasks of the caller's own is picked up by the next `advance`.
package final class ManualTimekeeper: Timekeeper {
  private struct Work {
    let lane: ManualLane
    let body: @Sendable () -> Void
  }

  private struct Waiting {
    let lane: ManualLane
    let timer: LaneTimer
  }

  private struct State {
    var now: Instant
    var ready = FIFO<Work>()
    var waiting = DeadlineHeap<Waiting>()
  }

  private let state: Mutex<State>
  /// Held for the length of an `advance`, so that two callers take turns.
  private let advancing = Mutex<Void>(())
  private let wallClockAtStart: Double
  private let start: Instant

  /// - Parameters:
  ///   - start: where the clock stands at first.
  ///   - wallClockSeconds: the wall clock at that moment, seconds since 1970.
  package init(start: Instant = Instant(nanoseconds: 1_000_000_000), wallClockSeconds: Double = 1_767_225_600) {
    self.start = start
    wallClockAtStart = wallClockSeconds
    state = Mutex(State(now: start))
  }

  package var now: Instant { state.withLock { $0.now } }

  package var wallClockSeconds: Double { wallClockAtStart + (now - start).seconds }

  package func makeLane(_ name: String) -> any Lane { ManualLane(name: name, timekeeper: self) }

  /// Runs what is ready without moving the clock, until nothing is.
  package func settle() { advance(by: .zero) }

  /// Moves the clock forward, running everything that falls due on the way.
  ///
  /// Not to be called from a lane: it would wait for itself for ever.
  package func advance(by duration: Duration) {
    advancing.withLock { _ in
      let target = now + duration
      while let work = nextWork(until: target) {
        if !work.lane.hasEnded { work.body() }
      }
      state.withLock { $0.now = max($0.now, target) }
    }
  }

  /// What is ready comes before what is due, as it was queued at an earlier moment or by what was due before.
  private func nextWork(until target: Instant) -> Work? {
    state.withLock { state in
      if let work = state.ready.popFirst() { return work }
      while let deadline = state.waiting.earliest, deadline <= target {
        guard let due = state.waiting.popDue(at: deadline), let body = due.timer.take() else { continue }
        state.now = max(state.now, deadline)
        return Work(lane: due.lane, body: body)
      }
      return nil
    }
  }

  fileprivate func enqueue(_ lane: ManualLane, _ body: @escaping @Sendable () -> Void) {
    state.withLock { state in
      guard !lane.hasEnded else { return }
      state.ready.append(Work(lane: lane, body: body))
    }
  }

  fileprivate func enqueue(
    _ lane: ManualLane, at deadline: Instant, _ body: @escaping @Sendable () -> Void
  ) -> LaneTimer {
    let timer = LaneTimer(body)
    // The lane's end is looked at with the lock that its dropping takes, so nothing slips in behind that.
    let isTaken = state.withLock { state in
      guard !lane.hasEnded else { return false }
      state.waiting.insert(Waiting(lane: lane, timer: timer), at: deadline)
      return true
    }
    if !isTaken { timer.cancel() }
    return timer
  }

  /// An ended lane's work is let go at once, not when its turn would have come: it may hold what is to be released.
  fileprivate func drop(_ lane: ManualLane) {
    let (ready, waiting) = state.withLock { state in
      let ready = state.ready.waiting
      state.ready.replaceAll(with: ready.filter { $0.lane !== lane })
      return (ready, state.waiting.remove { $0.lane === lane })
    }
    // Also where somebody still has the timer.
    for work in waiting { work.timer.cancel() }
    withExtendedLifetime(ready) {}
  }
}

private final class ManualLane: Lane {
  let name: String
  private let timekeeper: ManualTimekeeper
  private let ended = Atomic<Bool>(false)

  init(name: String, timekeeper: ManualTimekeeper) {
    self.name = name
    self.timekeeper = timekeeper
  }

  var hasEnded: Bool { ended.load(ordering: .acquiring) }

  func run(_ work: @escaping @Sendable () -> Void) { timekeeper.enqueue(self, work) }

  func run(at deadline: Instant, _ work: @escaping @Sendable () -> Void) -> LaneTimer {
    timekeeper.enqueue(self, at: deadline, work)
  }

  func end() {
    guard !ended.exchange(true, ordering: .acquiringAndReleasing) else { return }
    timekeeper.drop(self)
  }
}
