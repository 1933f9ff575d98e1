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
    var condition = LinkCondition()
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
  /// Least that may wait under a cap: two full chunks, as in a socket with a small send buffer.
  static let leastPacedCapacity = 2 * (4096 + ChunkHeader.length)
  /// Bytes that are no chunks are cut into parts of this size, that of a segment on Ethernet.
  static let segmentBytes = 1448
  /// Less room than this is none, else writers would send crumbs.
  static let leastRoom = 1024

  let direction: LinkConditioner.Direction
  private let link: UInt64
  private let content: LinkConditioner.Content
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
  private var stalls: StallSchedule?
  /// Nothing arrives before; nil once it is past.
  private var opensAt: Instant?
  private var held = FIFO<Portion>()
  private var passed = FIFO<Portion>()
  /// Bytes in all of these but `passed`.
  private(set) var waitingBytes = 0
  /// The writer was told of little room and waits to hear of more.
  private var owesWritable = false
  private(set) var hasEnded = false
  /// The end was handed over, behind all that was written before.
  private(set) var isOver = false

  init(
    direction: LinkConditioner.Direction, link: UInt64, settings: Settings, seed: UInt64,
    content: LinkConditioner.Content = .chunks, opensAt: Instant? = nil
  ) {
    self.direction = direction
    self.link = link
    self.settings = settings
    self.content = content
    self.opensAt = opensAt
    generator = SeededGenerator(seed: seed)
    stalls = settings.condition.stalls.map { StallSchedule($0, seed: generator.next()) }
  }

  // MARK: Inputs

  /// What the sender wrote at once: whole chunks, or any bytes.
  mutating func write(_ bytes: [UInt8], rules: inout FaultRules, at now: Instant) {
    guard !hasEnded else { return }
    switch content {
    case .chunks: write(chunks: bytes, &rules, at: now)
    case .bytes:
      waitingBytes += bytes.count
      for start in stride(from: 0, to: bytes.count, by: Self.segmentBytes) {
        pace(.bytes(Array(bytes[start..<min(bytes.count, start + Self.segmentBytes)])), at: now)
      }
    }
  }

  private mutating func write(chunks bytes: [UInt8], _ rules: inout FaultRules, at now: Instant) {
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
    if old.condition.rate != new.condition.rate { changeRate(at: now) }
    if old.condition.stalls != new.condition.stalls {
      stalls = new.condition.stalls.map { StallSchedule($0, seed: generator.next()) }
    }
    if !new.isHeld {
      while let portion = held.popFirst() { pass(portion) }
    }
  }

  /// No faults any more: all that waits passes at once, what left first first.
  mutating func clear(at now: Instant) {
    settings = Settings()
    stalls = nil
    opensAt = nil
    while let portion = held.popFirst() { pass(portion) }
    while let next = underWay.popFirst() { pass(next.portion) }
    changeRate(at: now)
    while let portion = delayed.popDue(at: .distantFuture) { pace(portion, at: now) }
    unpark(at: now)
  }

  /// The bytes are gone.
  mutating func breakOff() -> Int {
    let lost = waitingBytes
    self = ConditionedFlow(direction: direction, link: link, settings: settings, seed: 0, content: content)
    hasEnded = true
    return lost
  }

  /// Lets pass what is due.
  mutating func advance(to now: Instant) {
    if let opening = opensAt, opening <= now { opensAt = nil }
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

  mutating func nextPassed() -> Portion? {
    let portion = passed.popFirst()
    if portion == .end { isOver = true }
    return portion
  }

  /// When `advance(to:)` has something to do; nil while nothing waits for the time.
  var nextDeadline: Instant? {
    var earliest = delayed.earliest ?? .distantFuture
    if !paced.isEmpty { earliest = min(earliest, wireFree) }
    if let first = underWay.first { earliest = min(earliest, first.arrival) }
    if let opensAt { earliest = min(earliest, opensAt) }
    return earliest == .distantFuture ? nil : earliest
  }

  /// Nothing waits, and nothing holds up what comes.
  var isIdle: Bool {
    settings.isNeutral && waitingBytes == 0 && passed.isEmpty && paced.isEmpty && underWay.isEmpty && held.isEmpty
      && delayed.isEmpty && opensAt == nil
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
    settings.condition.rate.map { rate in
      let bits = Double(max(0, rate.bitsPerSecond)) * settings.condition.queue.seconds
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
    guard settings.condition.rate != nil || !paced.isEmpty else { return travel(portion, from: now) }
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
    if settings.condition.rate == nil {
      while let portion = paced.popFirst() { travel(portion, from: now) }
      pacedBytes = 0
      wireFree = now
    } else if let first = paced.first {
      // What is on the wire begins anew: at most a chunk's time is lost.
      wireFree = now + time(onWire: first)
    }
  }

  private func time(onWire portion: Portion) -> Duration {
    guard let rate = settings.condition.rate, portion.count > 0 else { return .zero }
    guard rate.bitsPerSecond > 0 else { return Duration.nanoseconds(Int64.max) }
    let bits = Double(portion.count) * 8
    return .nanoseconds(Int64(saturating: (bits / Double(rate.bitsPerSecond) * 1e9).rounded(.up)))
  }

  // MARK: Way and gate

  private mutating func travel(_ portion: Portion, from departure: Instant) {
    let condition = settings.condition
    guard
      condition.latency > .zero || condition.jitter > .zero || stalls != nil || opensAt != nil || !underWay.isEmpty
    else { return enter(gate: portion) }
    var travelTime = max(.zero, condition.latency)
    let jitter = condition.jitter.nanoseconds
    if jitter > 0 { travelTime += .nanoseconds(Int64.random(in: 0...jitter, using: &generator)) }
    // A stream of bytes: nothing overtakes.
    lastArrival = max(lastArrival, departure + travelTime, opensAt ?? .distantPast)
    if let arrival = stalls?.arrival(lastArrival) { lastArrival = arrival }
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
