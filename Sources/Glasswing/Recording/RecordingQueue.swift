import Units

/// The bounded queue between whoever delivers samples and the lane that writes them.
///
/// Bound: `Limits`, in bytes and in the age of the oldest entry. Drop rule: what is queued stays, since the file needs it
/// unbroken; a newcomer that doesn't fit is dropped, and with it everything up to the next sync sample that fits.
/// Before the first sync sample everything is dropped. Counters: `offered` and `dropped`.
struct RecordingQueue<Unit> {
  struct Limits: Hashable, Sendable {
    var span: Duration
    var bytes: ByteCount
  }

  enum Verdict: Hashable {
    case queued
    /// It isn't a sync sample, and only one of those can come next.
    case needsSync
    /// No room.
    case overflow
  }

  private struct Entry {
    let unit: Unit
    let bytes: Int
    let isSync: Bool
    let arrived: Instant
  }

  private let limits: Limits
  /// A ring would save the shift, but the queue is empty or nearly so unless the disk is stuck.
  private var entries: [Entry] = []
  private var bytes = 0
  private var awaitsSync = true
  private(set) var offered = 0
  private(set) var dropped = 0

  init(limits: Limits) { self.limits = limits }

  var isEmpty: Bool { entries.isEmpty }
  var first: Unit? { entries.first?.unit }

  mutating func offer(_ unit: Unit, bytes size: Int, isSync: Bool, at now: Instant) -> Verdict {
    offered += 1
    if awaitsSync, !isSync {
      dropped += 1
      return .needsSync
    }
    let isFull =
      !entries.isEmpty
      && (bytes.addingSaturating(size) > limits.bytes.bytes || now - (entries.first?.arrived ?? now) > limits.span)
    if isFull {
      dropped += 1
      awaitsSync = true
      return .overflow
    }
    awaitsSync = false
    entries.append(Entry(unit: unit, bytes: size, isSync: isSync, arrived: now))
    bytes = bytes.addingSaturating(size)
    return .queued
  }

  mutating func take() -> Unit? {
    guard !entries.isEmpty else { return nil }
    let entry = entries.removeFirst()
    bytes -= entry.bytes
    return entry.unit
  }

  /// Counts a unit that was taken but could not be written. Only a sync sample can come next: what waits before one goes.
  mutating func refuse() {
    dropped += 1
    while let entry = entries.first, !entry.isSync {
      entries.removeFirst()
      bytes -= entry.bytes
      dropped += 1
    }
    if entries.isEmpty { awaitsSync = true }
  }

  /// As if a unit that was taken had never been offered.
  mutating func forgetTaken() { offered -= 1 }

  /// As if what waits had never been offered.
  mutating func forgetAll() {
    offered -= entries.count
    entries = []
    bytes = 0
  }

  /// Drops what waits, and counts as dropped all that is not among the `written`.
  mutating func removeAll(butFor written: Int) {
    dropped = max(dropped, offered - written)
    entries = []
    bytes = 0
    awaitsSync = true
  }
}
