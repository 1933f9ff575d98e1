import Foundation
import LinkProtocol
import LinkTransport
import MWDATCore
import Synchronization
import TestSupport
import Testing
import Units

/// What a cancelled subscription may still be told, on real threads: nothing (Q23).
@Suite("Cancellation", .timeLimit(.minutes(5)))
struct CancellationTests {
  /// The two kinds that every announcer of the package is made of.
  enum Kind: CaseIterable {
    case states, frames

    func makeAnnouncer() -> (announcer: any Announcer<Int> & Sendable, send: @Sendable (Int) -> Void) {
      let timekeeper = SystemTimekeeper.shared
      switch self {
      case .states:
        let announcer = Broadcaster<Int>(lane: timekeeper.makeLane("states"))
        return (announcer, { announcer.send($0) })
      case .frames:
        let announcer = FrameBroadcaster<Int>(name: "frames", timekeeper: timekeeper)
        return (announcer, { announcer.send($0) })
      }
    }
  }

  /// A listener that is called without a pause until it is known to be cancelled, and what it saw.
  private final class Ear: Sendable {
    // So patient that a busy machine doesn't make it give up.
    let gate = CallGate(patience: .seconds(600))
    let isCancelled = Atomic<Bool>(false)
    let heard = Atomic<Int>(0)
    let heardTooLate = Atomic<Int>(0)

    func callUntilCancelled() {
      while !isCancelled.load(ordering: .sequentiallyConsistent) {
        gate.call {
          if isCancelled.load(ordering: .sequentiallyConsistent) { heardTooLate.add(1, ordering: .relaxed) }
          heard.add(1, ordering: .relaxed)
        }
      }
    }
  }

  /// There are many more threads than processors, so most of them stand, and some stand between the look at the gate and
  /// the call: a cancellation that doesn't know of them returns, and they call when their turn comes.
  @Test("No call of a listener that is hammered begins after cancel() has returned")
  func hammered() async throws {
    let timekeeper = SystemTimekeeper.shared
    let rounds = (0..<20).map { _ in (0..<8).map { _ in Ear() } }
    let done = Observed<Int>()
    let lanes = (0..<8).map { timekeeper.makeLane("caller \($0)") }
    for (number, lane) in lanes.enumerated() {
      lane.run {
        for ears in rounds { ears[number].callUntilCancelled() }
        done.record(number)
      }
    }
    // On a thread of its own: other tests' tasks may keep the process's few for a long time, and the callers don't rest.
    let canceller = LaneExecutor(timekeeper.makeLane("canceller"))
    await Task(executorPreference: canceller) {
      for ears in rounds {
        for ear in ears {
          while ear.heard.load(ordering: .relaxed) < 2 { sched_yield() }
          await ListenerToken(ear.gate) {}.cancel()
          ear.isCancelled.store(true, ordering: .sequentiallyConsistent)
        }
      }
    }.value
    try await done.wait("the callers' end") { $0.count == lanes.count }
    for lane in lanes + [canceller.lane] { lane.end() }
    let late = rounds.joined().count { $0.heardTooLate.load(ordering: .relaxed) > 0 }
    #expect(late == 0, "\(late) of \(rounds.count * lanes.count) heard something")
  }

  @Test("cancel() returns after the call of the listener that is under way", arguments: Kind.allCases)
  func waitsForListener(kind: Kind) async throws {
    let (announcer, send) = kind.makeAnnouncer()
    let order = Observed<String>()
    let door = DispatchSemaphore(value: 0)
    let token = announcer.listen { _ in
      order.record("begun")
      door.wait()
      order.record("heard")
    }
    send(1)
    send(2)
    try await order.wait("the call") { !$0.isEmpty }
    // By a thread of its own, since tasks may wait for their turn behind other tests for longer than a cancellation does
    // for a listener.
    let timekeeper = SystemTimekeeper.shared
    let lane = timekeeper.makeLane("door")
    lane.run(at: timekeeper.now + .milliseconds(20)) { door.signal() }
    await token.cancel()
    order.record("cancelled")
    #expect(order.values == ["begun", "heard", "cancelled"])
    lane.end()
  }

  @Test("cancel() returns after the call that is under way, for each who cancels")
  func waits() async throws {
    // So patient that a busy machine doesn't make it give up.
    let gate = CallGate(patience: .seconds(600))
    let token = ListenerToken(gate) {}
    let timekeeper = SystemTimekeeper.shared
    let lane = timekeeper.makeLane("calls")
    let entered = Observed<Void>()
    let order = Observed<String>()
    let door = DispatchSemaphore(value: 0)
    for _ in 0..<2 {
      lane.run {
        gate.call {
          entered.record(())
          door.wait()
          order.record("heard")
        }
      }
    }
    try await entered.wait("the call") { !$0.isEmpty }
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<2 {
        group.addTask {
          await token.cancel()
          order.record("cancelled")
        }
      }
      // They have long returned if they don't wait for it.
      for _ in 0..<1000 { await Task.yield() }
      door.signal()
    }
    #expect(order.values == ["heard", "cancelled", "cancelled"])
    #expect(entered.values.count == 1)
    lane.end()
  }

  @Test("A listener that waits for the cancellation of its own token is not waited for", arguments: Kind.allCases)
  func waitsForItself(kind: Kind) async throws {
    let (announcer, send) = kind.makeAnnouncer()
    let slot = Mutex<(any AnyListenerToken)?>(nil)
    let heard = Observed<Int>()
    let token = announcer.listen { value in
      let done = DispatchSemaphore(value: 0)
      let own = slot.withLock { $0 }
      Task {
        await own?.cancel()
        done.signal()
      }
      done.wait()
      heard.record(value)
    }
    slot.withLock { $0 = token }
    send(1)
    send(2)
    try await heard.wait("the way out") { !$0.isEmpty }
    #expect(heard.values == [1])
  }
}

/// Runs a task on the thread of a lane.
private final class LaneExecutor: TaskExecutor {
  let lane: any Lane

  init(_ lane: any Lane) { self.lane = lane }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    lane.run { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
