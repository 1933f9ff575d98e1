import Units

/// The only source of time: says what time it is, and makes the lanes on which everything runs.
///
/// Two implementations: `SystemTimekeeper` (LinkTransport) gives each lane a thread and the host's monotonic clock;
/// `ManualTimekeeper` runs every lane inside `advance(by:)`, in one order for one program. Code above never knows
/// which is in place, so it must not block on another lane, sleep, or read a clock of its own.
package protocol Timekeeper: AnyObject, Sendable {
  /// The current moment. Any thread.
  var now: Instant { get }

  /// Wall-clock seconds since 1970 at `now`, for the stamps that people read. Never used to order events.
  var wallClockSeconds: Double { get }

  /// A new lane. The name shows in thread lists and logs; at most 15 bytes of it reach the kernel.
  func makeLane(_ name: String) -> any Lane
}

/// A serial executor with deadlines: what is run on one lane never overlaps, and keeps its order.
///
/// Contract
/// - `run` is FIFO: work begins in the order of the calls, each after the one before has returned. Never inline.
/// - `run(at:)` begins no earlier than its deadline; equal deadlines keep the order of the calls.
/// - After `end()` has returned no work begins; what was waiting is dropped, unrun. Work already begun is not waited
///   for, so a lane may end itself. Idempotent.
/// - All members are safe to call from any thread, also from the lane itself and under a lock: none of them waits.
package protocol Lane: AnyObject, Sendable {
  var name: String { get }

  func run(_ work: @escaping @Sendable () -> Void)

  @discardableResult
  func run(at deadline: Instant, _ work: @escaping @Sendable () -> Void) -> LaneTimer

  func end()
}

extension Timekeeper {
  /// Suspends until the deadline, until the task is cancelled, or until the lane ends; returns either way, so callers
  /// check `Task.isCancelled` where it matters.
  package func sleep(until deadline: Instant, on lane: any Lane) async {
    let gate = ResumeOnce<Void>()
    // Held by the waiting work alone, so it goes with it: run, cancelled, or dropped by the lane's end.
    let timer = lane.run(at: deadline) { [waker = Waker(gate)] in withExtendedLifetime(waker) {} }
    await withTaskCancellationHandler {
      await withCheckedContinuation { gate.store($0) }
    } onCancel: {
      timer.cancel()
    }
  }
}

/// Opens a gate when it is released.
private final class Waker: Sendable {
  private let gate: ResumeOnce<Void>

  init(_ gate: ResumeOnce<Void>) { self.gate = gate }

  deinit { gate.resume(with: ()) }
}
