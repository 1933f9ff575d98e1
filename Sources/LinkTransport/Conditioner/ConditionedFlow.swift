import LinkProtocol
import Units

/// One direction of one link under faults, as a value: what is written and the time go in, what passes and the next
/// deadline come out.
///
/// A chunk goes through four stages, and keeps its place in each unless a rule says otherwise: the rules; the wire, which
/// takes its time where the rate is capped; the way, which takes the latency; the gate, shut while the direction is held.
struct ConditionedFlow: Sendable {
  /// What holds for every link of a direction.
  struct Settings: Hashable, Sendable {
    var rate: Bitrate?
    var latency: Duration = .zero
    var jitter: Duration = .zero
    var isHeld = false

    var isNeutral: Bool { self == Settings() }
  }

  enum Portion: Hashable, Sendable {
    case bytes([UInt8])
    /// The sender's end was closed behind what was written.
    case end

    var count: Int {
      switch self {
      case .bytes(let bytes): bytes.count
      case .end: 0
      }
    }
  }

  /// A part that waits for later ones to pass it.
  private struct Parked: Sendable {
    let channel: UInt8
    let sequence: UInt32
    let part: LinkConditioner.Part
    var remaining: Int
    var chunks: [[UInt8]]
  }

  private struct UnderWay: Sendable {
    var portion: Portion
    var arrival: Instant
  }

  /// Bytes that may wait in all before the writer has to: what a radio with a generous buffer holds.
  static let capacity = 1_048_576
  /// While held: what a socket takes whose peer does not read.
  static let heldCapacity = 262_144
  /// Under a cap, in time, but at least two full chunks: as a socket with a small send buffer.
  static let pacedCapacity: Duration = .milliseconds(50)
  static let leastPacedCapacity = 2 * (4096 + ChunkHeader.length)
  /// Less room than this is none, else writers would send crumbs.
  static let leastRoom = 1024

  let direction: LinkConditioner.Direction
  private let link: UInt64
  private var settings: Settings
  private var generator: SeededGenerator

  private var delayed = DeadlineHeap<Portion>()
  private var lastDelayed = Instant.distantPast
  private var parked: [Parked] = []
  /// By channel: the chunks of the unit that comes a second time when it is complete.
  private var copies: [UInt8: [[UInt8]]] = [:]
  /// The first is on the wire until `wireFree`.
  private var paced = FIFO<Portion>()
  private var pacedBytes = 0
  private var wireFree = Instant.distantPast
  private var underWay = FIFO<UnderWay>()
  private var lastArrival = Instant.distantPast
  private var held = FIFO<Portion>()
  private var passed = FIFO<Portion>()
  /// Bytes in all of these but `passed`.
  private(set) var waitingBytes = 0
  /// The writer was told of little room and waits to hear of more.
  private var owesWritable = false
  private(set) var hasEnded = false

  init(direction: LinkConditioner.Direction, link: UInt64, settings: Settings, seed: UInt64) {
    self.direction = direction
    self.link = link
    self.settings = settings
    generator = SeededGenerator(seed: seed)
  }

  // MARK: Inputs

  /// What the sender wrote at once: whole chunks.
  mutating func write(_ bytes: [UInt8], rules: inout FaultRules, at now: Instant) {
    guard !hasEnded else { return }
    let (chunks, rest) = WrittenChunk.cut(bytes)
    for chunk in chunks {
      waitingBytes += chunk.bytes.count
      carry(out: rules.judge(chunk, of: link, direction, at: now), on: chunk, at: now)
      if chunk.header.isLast { letGoOfCopies(chunk.header.channel, at: now) }
      letOvertaken(by: chunk, at: now)
    }
    if !rest.isEmpty {
      waitingBytes += rest.count
      pace(.bytes(rest), at: now)
    }
  }

  /// The sender's end was closed: it is seen when all that was written before has passed.
  mutating func end(at now: Instant) {
    guard !hasEnded else { return }
    hasEnded = true
    unpark(at: now)
    if delayed.isEmpty { pace(.end, at: now) } else { delayed.insert(.end, at: lastDelayed) }
  }

  mutating func set(_ new: Settings, at now: Instant) {
    let old = settings
    settings = new
    if old.rate != new.rate { changeRate(at: now) }
    if !new.isHeld {
      while let portion = held.popFirst() { pass(portion) }
    }
  }

  /// No faults any more: all that waits passes at once, what left first first.
  mutating func clear(at now: Instant) {
    settings = Settings()
    while let portion = held.popFirst() { pass(portion) }
    while let next = underWay.popFirst() { pass(next.portion) }
    changeRate(at: now)
    while let portion = delayed.popDue(at: .distantFuture) { pace(portion, at: now) }
    unpark(at: now)
  }

  /// The bytes are gone.
  mutating func breakOff() -> Int {
    let lost = waitingBytes
    self = ConditionedFlow(direction: direction, link: link, settings: settings, seed: 0)
    hasEnded = true
    return lost
  }

  /// Lets pass what is due.
  mutating func advance(to now: Instant) {
    while let next = nextDeadline, next <= now {
      // What has travelled furthest goes first where times are equal.
      if let first = underWay.first, first.arrival == next {
        underWay.popFirst().map { enter(gate: $0.portion) }
      } else if !paced.isEmpty, wireFree == next {
        leaveWire()
      } else if let portion = delayed.popDue(at: next) {
        pace(portion, at: next)
      }
    }
  }

  // MARK: Outputs

  mutating func nextPassed() -> Portion? { passed.popFirst() }

  /// When `advance(to:)` has something to do; nil while nothing waits for the time.
  var nextDeadline: Instant? {
    var earliest = delayed.earliest ?? .distantFuture
    if !paced.isEmpty { earliest = min(earliest, wireFree) }
    if let first = underWay.first { earliest = min(earliest, first.arrival) }
    return earliest == .distantFuture ? nil : earliest
  }

  /// Nothing waits, and nothing holds up what comes.
  var isIdle: Bool {
    settings.isNeutral && waitingBytes == 0 && passed.isEmpty && paced.isEmpty && underWay.isEmpty && held.isEmpty
      && delayed.isEmpty
  }

  var heldBytes: Int { held.waiting.reduce(0) { $0 + $1.count } }

  /// What the writer may write now.
  mutating func askRoom() -> Int {
    let room = room
    if room < bestRoom / 2 { owesWritable = true }
    return room < Self.leastRoom ? 0 : room
  }

  /// True once when there is room again for a writer that was told of little.
  mutating func takeWritable() -> Bool {
    guard owesWritable, room >= bestRoom / 2 else { return false }
    owesWritable = false
    return true
  }

  private var room: Int {
    guard !hasEnded else { return 0 }
    var room = (settings.isHeld ? Self.heldCapacity : Self.capacity) - waitingBytes
    if let pacedLimit { room = min(room, pacedLimit - pacedBytes) }
    return max(0, room)
  }

  private var bestRoom: Int {
    min(settings.isHeld ? Self.heldCapacity : Self.capacity, pacedLimit ?? .max)
  }

  private var pacedLimit: Int? {
    settings.rate.map { rate in
      let bits = Double(max(0, rate.bitsPerSecond)) * Self.pacedCapacity.seconds
      return max(Self.leastPacedCapacity, Int(Int64(saturating: bits / 8)))
    }
  }

  // MARK: Rules

  private mutating func carry(out verdict: FaultRules.Verdict, on chunk: WrittenChunk, at now: Instant) {
    switch verdict {
    case .pass:
      pace(.bytes(chunk.bytes), at: now)
    case .drop:
      waitingBytes -= chunk.bytes.count
    case .delay(let delay):
      lastDelayed = max(lastDelayed, now + delay)
      delayed.insert(.bytes(chunk.bytes), at: now + delay)
    case .duplicate(let part):
      pace(.bytes(chunk.bytes), at: now)
      repeatLater(chunk, part, at: now)
    case .reorder(let behind, let part):
      park(chunk, behind: behind, part)
    case .corrupt(let byte, let bit):
      var bytes = chunk.bytes
      bytes[ChunkHeader.length + byte] ^= 1 << UInt8(bit)
      pace(.bytes(bytes), at: now)
    }
  }

  private mutating func repeatLater(_ chunk: WrittenChunk, _ part: LinkConditioner.Part, at now: Instant) {
    waitingBytes += chunk.bytes.count
    switch part {
    case .unit: copies[chunk.header.channel, default: []].append(chunk.bytes)
    case .chunk: pace(.bytes(chunk.bytes), at: now)
    }
  }

  /// The unit is complete: what was copied of it comes a second time.
  private mutating func letGoOfCopies(_ channel: UInt8, at now: Instant) {
    for copy in copies.removeValue(forKey: channel) ?? [] { pace(.bytes(copy), at: now) }
  }

  private mutating func park(_ chunk: WrittenChunk, behind: Int, _ part: LinkConditioner.Part) {
    let header = chunk.header
    if part == .unit,
      let index = parked.firstIndex(where: {
        $0.part == .unit && $0.channel == header.channel && $0.sequence == header.sequence
      })
    {
      parked[index].chunks.append(chunk.bytes)
    } else {
      parked.append(
        Parked(
          channel: header.channel, sequence: header.sequence, part: part,
          // A chunk sees itself come, a unit doesn't.
          remaining: part == .chunk ? behind.addingSaturating(1) : behind, chunks: [chunk.bytes]))
    }
  }

  /// Counts what comes later than what is parked, and lets go of what enough has come behind.
  private mutating func letOvertaken(by chunk: WrittenChunk, at now: Instant) {
    guard !parked.isEmpty else { return }
    for index in parked.indices where parked[index].channel == chunk.header.channel {
      let counts =
        switch parked[index].part {
        case .chunk: true
        case .unit: chunk.header.isLast && chunk.header.sequence != parked[index].sequence
        }
      if counts { parked[index].remaining -= 1 }
    }
    let free = parked.filter { $0.remaining <= 0 }
    guard !free.isEmpty else { return }
    parked.removeAll { $0.remaining <= 0 }
    for one in free { for bytes in one.chunks { pace(.bytes(bytes), at: now) } }
  }

  /// Nothing comes behind it any more.
  private mutating func unpark(at now: Instant) {
    let all = parked
    parked.removeAll()
    for one in all { for bytes in one.chunks { pace(.bytes(bytes), at: now) } }
    for channel in copies.keys.sorted() { letGoOfCopies(channel, at: now) }
  }

  // MARK: Wire

  private mutating func pace(_ portion: Portion, at now: Instant) {
    guard settings.rate != nil || !paced.isEmpty else { return travel(portion, from: now) }
    paced.append(portion)
    pacedBytes += portion.count
    if paced.count == 1 { wireFree = max(now, wireFree) + time(onWire: portion) }
  }

  private mutating func leaveWire() {
    guard let portion = paced.popFirst() else { return }
    pacedBytes -= portion.count
    let departure = wireFree
    if let next = paced.first { wireFree = departure + time(onWire: next) }
    travel(portion, from: departure)
  }

  private mutating func changeRate(at now: Instant) {
    if settings.rate == nil {
      while let portion = paced.popFirst() { travel(portion, from: now) }
      pacedBytes = 0
      wireFree = now
    } else if let first = paced.first {
      // What is on the wire begins anew: at most a chunk's time is lost.
      wireFree = now + time(onWire: first)
    }
  }

  private func time(onWire portion: Portion) -> Duration {
    guard let rate = settings.rate, portion.count > 0 else { return .zero }
    guard rate.bitsPerSecond > 0 else { return Duration.nanoseconds(Int64.max) }
    let bits = Double(portion.count) * 8
    return .nanoseconds(Int64(saturating: (bits / Double(rate.bitsPerSecond) * 1e9).rounded(.up)))
  }

  // MARK: Way and gate

  private mutating func travel(_ portion: Portion, from departure: Instant) {
    guard settings.latency > .zero || settings.jitter > .zero || !underWay.isEmpty else {
      return enter(gate: portion)
    }
    var travelTime = max(.zero, settings.latency)
    let jitter = settings.jitter.nanoseconds
    if jitter > 0 { travelTime += .nanoseconds(Int64.random(in: 0...jitter, using: &generator)) }
    // A stream of bytes: nothing overtakes.
    lastArrival = max(lastArrival, departure + travelTime)
    underWay.append(UnderWay(portion: portion, arrival: lastArrival))
  }

  private mutating func enter(gate portion: Portion) {
    if settings.isHeld { held.append(portion) } else { pass(portion) }
  }

  private mutating func pass(_ portion: Portion) {
    waitingBytes -= portion.count
    passed.append(portion)
  }
}
