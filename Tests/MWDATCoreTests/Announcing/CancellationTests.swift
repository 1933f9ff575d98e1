import Dispatch
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

  /// What one listener knows and saw.
  private final class Ear: Sendable {
    let isCancelled = Atomic<Bool>(false)
    let heard = Atomic<Int>(0)
    let heardTooLate = Atomic<Int>(0)

    func hear() {
      if isCancelled.load(ordering: .sequentiallyConsistent) { heardTooLate.add(1, ordering: .relaxed) }
      heard.add(1, ordering: .relaxed)
    }
  }

  @Test("No call of a listener that is hammered begins after cancel() has returned", arguments: Kind.allCases)
  func hammered(kind: Kind) async {
    let (announcer, send) = kind.makeAnnouncer()
    // Each value brings the next one, as fast as the threads go.
    let pump = announcer.listen { send($0) }
    send(0)
    var late = 0
    for _ in 0..<60 {
      let ears = (0..<8).map { _ in Ear() }
      let tokens = ears.map { ear in announcer.listen { _ in ear.hear() } }
      for (ear, token) in zip(ears, tokens) {
        while ear.heard.load(ordering: .relaxed) < 2 { await Task.yield() }
        await token.cancel()
        ear.isCancelled.store(true, ordering: .sequentiallyConsistent)
      }
      late += ears.reduce(0) { $0 + $1.heardTooLate.load(ordering: .relaxed) }
    }
    #expect(late == 0, "\(late) of 480 heard something")
    await pump.cancel()
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
