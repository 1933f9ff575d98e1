import Glibc
import LinkProtocol
import Units

/// The host's monotonic clock, and a thread a lane.
package final class SystemTimekeeper: Timekeeper {
  /// The one that apps and commands use. (Any number may exist: they hold nothing.)
  package static let shared = SystemTimekeeper()

  private let threadIdleLimit: Duration

  /// - Parameter threadIdleLimit: how long a lane's thread outlives its last work. Long enough by default that a stream
  ///   at 2 frames a second keeps its threads.
  package init(threadIdleLimit: Duration = .seconds(2)) { self.threadIdleLimit = threadIdleLimit }

  package var now: Instant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  package var wallClockSeconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  package func makeLane(_ name: String) -> any Lane {
    ThreadLane(name: name, timekeeper: self, idleLimit: threadIdleLimit)
  }
}
