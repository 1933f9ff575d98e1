import Units

/// Units of sound that wait to be sent. Bounded by the age of the oldest and by bytes; over either bound the oldest go,
/// and the next one of their stream says that something is missing.
///
/// PCM that waits when Opus has begun is what the link did not carry, and takes longer to leave than it is long: of that
/// no more than `agedPCM` is kept, or pictures would wait for it.
struct AudioQueue: Sendable {
  struct Dropped: Hashable, Sendable {
    var stream: StreamID
    var units: Int
    /// They were PCM that Opus has followed.
    var isLeftOver = false
  }

  private struct Entry: Sendable {
    var unit: AudioUnit
    let enqueued: Instant
  }

  private static let agedPCM: Duration = .milliseconds(100)

  private let ageLimit: Duration
  private let byteLimit: Int
  private var entries = FIFO<Entry>()
  /// Streams of which something was dropped and no unit has left since.
  private var marked: Set<StreamID> = []
  private(set) var bytes = 0
  /// Units that came since the link's begin, and those of them that wait no more.
  private(set) var appended: UInt64 = 0
  private(set) var gone: UInt64 = 0

  init(ageLimit: Duration, byteLimit: Int) {
    self.ageLimit = ageLimit
    self.byteLimit = byteLimit
  }

  var count: Int { entries.count }
  func age(at now: Instant) -> Duration { entries.first.map { now - $0.enqueued } ?? .zero }

  /// - Returns: what was dropped, by stream.
  mutating func append(_ unit: AudioUnit, at now: Instant) -> [Dropped] {
    bytes += unit.payload.count
    appended += 1
    entries.append(Entry(unit: unit, enqueued: now))
    return trim(at: now)
  }

  /// A unit that can't be sent: it is missing.
  mutating func leaveOut(_ unit: AudioUnit) -> Dropped {
    marked.insert(unit.stream)
    return Dropped(stream: unit.stream, units: 1)
  }

  /// The unit to be sent next, after what has grown too old was dropped.
  mutating func popFirst(at now: Instant) -> (unit: AudioUnit?, dropped: [Dropped]) {
    let dropped = trim(at: now)
    guard var unit = takeFirst() else { return (nil, dropped) }
    if marked.remove(unit.stream) != nil { unit.flags.insert(.discontinuity) }
    return (unit, dropped)
  }

  /// Drops what has grown too old or too much.
  mutating func trim(at now: Instant) -> [Dropped] {
    guard isTooMuch(at: now) else { return [] }
    var dropped: [Dropped] = []
    while isTooMuch(at: now) {
      let isLeftOver = hasLeftOver
      guard let unit = takeFirst() else { break }
      marked.insert(unit.stream)
      if let index = dropped.firstIndex(where: { $0.stream == unit.stream }) {
        dropped[index].units += 1
      } else {
        dropped.append(Dropped(stream: unit.stream, units: 1, isLeftOver: isLeftOver))
      }
    }
    return dropped
  }

  /// No unit of the stream is to follow.
  mutating func forget(_ stream: StreamID) { marked.remove(stream) }

  mutating func removeAll() {
    entries.removeAll()
    gone = appended
    marked.removeAll()
    bytes = 0
  }

  private var hasLeftOver: Bool { entries.first?.unit.codec == .pcmFloat32 && entries.last?.unit.codec == .opus }

  private func isTooMuch(at now: Instant) -> Bool {
    age(at: now) > (hasLeftOver ? min(Self.agedPCM, ageLimit) : ageLimit) || bytes > byteLimit
  }

  private mutating func takeFirst() -> AudioUnit? {
    guard let unit = entries.popFirst()?.unit else { return nil }
    bytes -= unit.payload.count
    gone += 1
    return unit
  }
}
