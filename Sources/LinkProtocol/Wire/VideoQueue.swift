import Units

/// Access units that wait to be sent. Bounded by the age of the oldest and by bytes; over either bound it drops to a
/// stream's next sync unit, or, when none waits, takes nothing of the stream until one comes (PERF-2).
struct VideoQueue: Sendable {
  struct Dropped: Sendable {
    var stream: StreamID
    var units: Int
    /// No sync unit waits, so one must be made.
    var needsSync: Bool
    /// The queue ran over now, rather than still waiting for a sync unit.
    var begins: Bool
  }

  private struct Entry: Sendable {
    var unit: AccessUnit
    let enqueued: Instant
  }

  private static let aWhile: Duration = .milliseconds(100)

  private let ageLimit: Duration
  private let byteLimit: Int
  private var entries = FIFO<Entry>()
  /// Streams of which something was dropped and nothing decodable is in the queue.
  private var awaitingSync: Set<StreamID> = []
  private(set) var bytes = 0

  init(ageLimit: Duration, byteLimit: Int) {
    self.ageLimit = ageLimit
    self.byteLimit = byteLimit
  }

  var count: Int { entries.count }

  func age(at now: Instant) -> Duration { entries.first.map { now - $0.enqueued } ?? .zero }

  /// - Returns: what was dropped, by stream.
  mutating func append(_ unit: AccessUnit, at now: Instant) -> [Dropped] {
    var unit = unit
    if awaitingSync.contains(unit.stream) {
      guard unit.flags.contains(.sync) else {
        // The encoder was told at the overflow; it is on its way to a sync unit.
        return [Dropped(stream: unit.stream, units: 1, needsSync: false, begins: false)]
      }
      awaitingSync.remove(unit.stream)
      unit.flags.insert(.discontinuity)
    }
    bytes += unit.payload.count
    entries.append(Entry(unit: unit, enqueued: now))
    return trim(at: now)
  }

  /// The unit to be sent next, after what has grown too old was dropped.
  mutating func popFirst(at now: Instant) -> (unit: AccessUnit?, dropped: [Dropped]) {
    let dropped = trim(at: now)
    let unit = entries.popFirst()?.unit
    if let unit { bytes -= unit.payload.count }
    return (unit, dropped)
  }

  /// Takes a stopped stream's units out; that is no overflow.
  mutating func forget(_ stream: StreamID) {
    awaitingSync.remove(stream)
    replace(with: entries.waiting.filter { $0.unit.stream != stream })
  }

  mutating func removeAll() {
    entries.removeAll()
    awaitingSync.removeAll()
    bytes = 0
  }

  /// Drops all, where the oldest has waited for a while: none of them would arrive in time.
  mutating func runOver(at now: Instant) -> [Dropped] {
    age(at: now) > Self.aWhile ? drop(at: now, keepingSync: false) : []
  }

  /// Drops what has grown too old or too much.
  mutating func trim(at now: Instant) -> [Dropped] {
    guard age(at: now) > ageLimit || bytes > byteLimit else { return [] }
    var dropped = drop(at: now, keepingSync: true)
    // A single huge sync unit, or many streams: what is left is still too much.
    if bytes > byteLimit {
      let rest = drop(at: now, keepingSync: false)
      for more in rest {
        if let index = dropped.firstIndex(where: { $0.stream == more.stream }) {
          dropped[index].units += more.units
          dropped[index].needsSync = true
        } else {
          dropped.append(more)
        }
      }
    }
    return dropped
  }

  /// Drops each stream's units up to its last sync unit that is fresh enough, or all of them.
  private mutating func drop(at now: Instant, keepingSync: Bool) -> [Dropped] {
    var waiting = entries.waiting
    var entry: [StreamID: Int] = [:]
    if keepingSync {
      for (index, candidate) in waiting.enumerated()
      where candidate.unit.flags.contains(.sync) && now - candidate.enqueued <= ageLimit {
        entry[candidate.unit.stream] = index
      }
    }
    var dropped: [Dropped] = []
    var kept: [Entry] = []
    for index in waiting.indices {
      let stream = waiting[index].unit.stream
      if let first = entry[stream], index >= first {
        // Marked only if something before it goes.
        if index == first, dropped.contains(where: { $0.stream == stream }) {
          waiting[index].unit.flags.insert(.discontinuity)
        }
        kept.append(waiting[index])
        continue
      }
      if let known = dropped.firstIndex(where: { $0.stream == stream }) {
        dropped[known].units += 1
      } else {
        dropped.append(Dropped(stream: stream, units: 1, needsSync: entry[stream] == nil, begins: true))
      }
      if entry[stream] == nil { awaitingSync.insert(stream) }
    }
    replace(with: kept)
    return dropped
  }

  private mutating func replace(with kept: [Entry]) {
    entries.replaceAll(with: kept)
    bytes = kept.reduce(0) { $0 + $1.unit.payload.count }
  }
}
