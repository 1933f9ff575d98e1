import Synchronization
import Units

/// The frames that listeners missed because they were too slow, told at most once a second for each: one that blocks misses
/// each. What is missed within that second is told at its end.
final class ListenerDrops: Sendable {
  /// Least time between two events of one listener.
  static let interval: Duration = .seconds(1)

  enum Outcome: Hashable, Sendable {
    /// So many frames since the last telling.
    case tell(Int)
    /// It is too early; call `due` then.
    case wait(until: Instant)
    /// It is too early, and `due` will be called.
    case nothing
  }

  private struct Entry {
    var untold = 0
    var lastTold = Instant.distantPast
  }

  /// By the listeners' numbers; those that were told of long ago, and may have left, make room.
  private let entries = Mutex<[Int: Entry]>([:])
  private static let limit = 64

  /// Frames were missed. Any thread.
  func missed(_ count: Int, by listener: Int, at now: Instant) -> Outcome {
    guard count > 0 else { return .nothing }
    return entries.withLock { entries in
      if entries.count >= Self.limit {
        entries = entries.filter { $0.value.lastTold > now - Self.interval || $0.value.untold > 0 }
      }
      var entry = entries[listener] ?? Entry()
      defer { entries[listener] = entry }
      let isFirst = entry.untold == 0
      entry.untold = entry.untold.addingSaturating(count)
      if isFirst, entry.lastTold == .distantPast || now - entry.lastTold >= Self.interval {
        defer { entry = Entry(untold: 0, lastTold: now) }
        return .tell(entry.untold)
      }
      return isFirst ? .wait(until: entry.lastTold + Self.interval) : .nothing
    }
  }

  /// The time has come: what to tell now.
  func due(_ listener: Int, at now: Instant) -> Int? {
    entries.withLock { entries in
      guard let untold = entries[listener]?.untold, untold > 0 else { return nil }
      entries[listener] = Entry(untold: 0, lastTold: now)
      return untold
    }
  }
}
