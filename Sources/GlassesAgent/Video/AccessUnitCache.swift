import Glibc
import Synchronization
import Units

/// The loops of access units that this process has encoded for simulated time, by what they show and how.
///
/// Bounded: when a new loop is asked for and there are more than `largestCount` or more than `largestSize`, those not
/// used for longest go. A pipeline keeps the loop that it plays.
package final class AccessUnitCache: Sendable {
  package static let shared = AccessUnitCache()

  static let largestCount = 24
  static let largestSize = ByteCount.mebibytes(64)

  /// What tells one loop from another.
  struct Key: Hashable, Sendable {
    var feed: FeedIdentity
    var size: PixelSize
    var frameRate: UInt8
    var bitrate: Bitrate
    var keyframeInterval: Duration?
    var writesPictureHashes: Bool
  }

  private struct State {
    /// Least recently used first.
    var loops: [(key: Key, loop: UnitLoop)] = []
  }

  private let state = Mutex(State())

  package init() {}

  /// Loops held now, for tests.
  package var count: Int { state.withLock { $0.loops.count } }

  func loop(for key: Key, openSource: @escaping SourceOpener) -> UnitLoop {
    state.withLock { state in
      if let index = state.loops.firstIndex(where: { $0.key == key }) {
        let entry = state.loops.remove(at: index)
        state.loops.append(entry)
        return entry.loop
      }
      let loop = UnitLoop(
        UnitLoop.Recipe(
          size: key.size, requestedRate: Double(max(key.frameRate, 1)), bitrate: key.bitrate,
          keyframeInterval: key.keyframeInterval, writesPictureHashes: key.writesPictureHashes, openSource: openSource))
      state.loops.append((key, loop))
      Self.trim(&state)
      return loop
    }
  }

  /// Forgets a loop, so that the next one to ask begins anew; for one that failed.
  func remove(_ key: Key) { state.withLock { $0.loops.removeAll { $0.key == key } } }

  private static func trim(_ state: inout State) {
    var size = state.loops.reduce(0) { $0 + $1.loop.byteCount }
    while state.loops.count > 1, state.loops.count > largestCount || size > largestSize.bytes {
      size -= state.loops.removeFirst().loop.byteCount
    }
  }
}

/// A feed as it is now: a file that was written anew is another feed.
enum FeedIdentity: Hashable, Sendable {
  case pattern
  case live(ObjectIdentifier)
  case file(path: String, size: Int64, modified: Int64, number: UInt64)

  init(_ feed: FeedDescription) {
    switch feed {
    case .pattern: self = .pattern
    case .live(let feed): self = .live(ObjectIdentifier(feed))
    case .file(let path):
      var status = stat()
      guard stat(path, &status) == 0 else {
        self = .file(path: path, size: -1, modified: 0, number: 0)
        return
      }
      let seconds = Int64(status.st_mtim.tv_sec)
      let modified = seconds.multipliedSaturating(by: 1_000_000_000).addingSaturating(Int64(status.st_mtim.tv_nsec))
      self = .file(path: path, size: Int64(status.st_size), modified: modified, number: UInt64(status.st_ino))
    }
  }
}
