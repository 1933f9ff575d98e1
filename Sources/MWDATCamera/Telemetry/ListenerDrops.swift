import Synchronization
import Units

/// The frames that listeners missed because they were too slow, told at most once a second for each: one that blocks misses
/// each.
final class ListenerDrops: Sendable {
  /// Least time between two events of one listener.
  static let interval: Duration = .seconds(1)

  private struct Entry {
    var untold = 0
    var lastTold = Instant.distantPast
  }

  /// By the listeners' numbers; those that were told of long ago, and may have left, make room.
  private let entries = Mutex<[Int: Entry]>([:])
  private static let limit = 64

  /// Frames were missed. What to tell now: the frames since the last telling; nil while it is too early. Any thread.
  func missed(_ count: Int, by listener: Int, at now: Instant) -> Int? {
    entries.withLock { entries in
      var entry = entries[listener] ?? Entry()
      entry.untold = entry.untold.addingSaturating(max(0, count))
      let isDue = entry.lastTold == .distantPast || now - entry.lastTold >= Self.interval
      let told = isDue ? entry.untold : nil
      if isDue { entry = Entry(untold: 0, lastTold: now) }
      if entries.count >= Self.limit {
        entries = entries.filter { $0.value.lastTold > now - Self.interval || $0.value.untold > 0 }
      }
      entries[listener] = entry
      return told
    }
  }
}
