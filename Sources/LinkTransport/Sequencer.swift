import Synchronization
import Units

/// Carries out what was decided under a lock, outside it and in the order of the decisions.
///
/// Append with the lock held that the decision was taken under, then call `drain` without it. One thread at a time carries
/// steps out; another one that has some leaves them to it, and so does a step that leads to further ones.
final class Sequencer<Step: Sendable>: Sendable {
  private struct State {
    var steps = FIFO<Step>()
    var isDraining = false
  }

  private let state = Mutex(State())

  func append(_ step: Step) { state.withLock { $0.steps.append(step) } }

  func drain(_ carryOut: (Step) -> Void) {
    while let step = next() {
      carryOut(step)
      state.withLock { $0.isDraining = false }
    }
  }

  private func next() -> Step? {
    state.withLock { state in
      guard !state.isDraining, let step = state.steps.popFirst() else { return nil }
      state.isDraining = true
      return step
    }
  }
}
