import LinkProtocol
import LinkTransport
import Synchronization
import TestSupport
import Units

/// One of several walkers through one world, each on a thread of its own, in real time.
final class ThreadedWalker: Sendable {
  private let world: World
  private let lane: any Lane
  private let end: Instant
  private let choice: Mutex<StepChoice>
  private let generator: Mutex<SeededGenerator>
  private let ended: Observed<UInt64>
  private let seed: UInt64

  init(_ world: World, seed: UInt64, until end: Instant, ended: Observed<UInt64>) {
    self.world = world
    self.seed = seed
    self.end = end
    self.ended = ended
    lane = world.judge.timekeeper.makeLane("walker")
    choice = Mutex(StepChoice(seed: seed))
    generator = Mutex(SeededGenerator(seed: ~seed))
  }

  func begin() { lane.run { self.walk() } }

  /// Some steps at once, then a little while.
  private func walk() {
    guard world.judge.timekeeper.now < end else {
      ended.record(seed)
      return lane.end()
    }
    let (count, pause) = generator.withLock { generator in
      (Int.random(in: 1...4, using: &generator), Int.random(in: 0...40, using: &generator))
    }
    for _ in 0..<count { world.perform(choice.withLock { $0.next(.faults) }) }
    lane.run(at: world.judge.timekeeper.now + .milliseconds(pause)) { self.walk() }
  }
}
