import LinkProtocol
import Units

/// The rules of one pair of glasses and the record of what they did; a value.
struct FaultRules: Sendable {
  /// What becomes of a chunk.
  enum Verdict: Hashable, Sendable {
    case pass
    case drop
    case delay(Duration)
    case duplicate(LinkConditioner.Part)
    case reorder(behind: Int, LinkConditioner.Part)
    /// A bit of a byte of the payload.
    case corrupt(byte: Int, bit: Int)
  }

  /// Events kept; the oldest go. A test that causes more looks at the log on the way.
  static let logLimit = 65_536

  private var rules: [FaultRule] = []
  private var muted: Set<Way> = []
  private var seeds: SeededGenerator
  private(set) var log = FIFO<LinkConditioner.Event>()

  private struct Way: Hashable, Sendable {
    var channel: Channel
    var direction: LinkConditioner.Direction
  }

  init(seed: UInt64) { seeds = SeededGenerator(seed: seed) }

  // MARK: Changes

  mutating func add(
    _ action: LinkConditioner.Action, to part: LinkConditioner.Part, _ which: LinkConditioner.Which,
    on channel: Channel, _ direction: LinkConditioner.Direction, syncOnly: Bool?
  ) {
    rules.append(
      FaultRule(
        action: action, part: part, which: which, channel: channel, direction: direction, syncOnly: syncOnly,
        seed: seeds.next()))
    removeSpent()
  }

  mutating func mute(_ channel: Channel, _ direction: LinkConditioner.Direction) {
    muted.insert(Way(channel: channel, direction: direction))
  }

  mutating func unmute(_ channel: Channel, _ direction: LinkConditioner.Direction) {
    muted.remove(Way(channel: channel, direction: direction))
  }

  mutating func removeAll() {
    rules.removeAll()
    muted.removeAll()
  }

  mutating func forget(link: UInt64) {
    for index in rules.indices { rules[index].forget(link: link) }
  }

  mutating func note(_ event: LinkConditioner.Event) {
    if log.count >= Self.logLimit { _ = log.popFirst() }
    log.append(event)
  }

  // MARK: Judging

  func actsOn(_ direction: LinkConditioner.Direction) -> Bool {
    rules.contains { $0.direction == direction } || muted.contains { $0.direction == direction }
  }

  /// Counts a chunk, decides and keeps a record of the decision. A chunk of a channel that this version does not know
  /// passes.
  mutating func judge(
    _ chunk: WrittenChunk, of link: UInt64, _ direction: LinkConditioner.Direction, at now: Instant
  ) -> Verdict {
    guard let channel = Channel(rawValue: chunk.header.channel) else { return .pass }
    var acting: Int?
    // Every rule counts, whether or not an earlier one acts.
    for index in rules.indices where rules[index].channel == channel && rules[index].direction == direction {
      if rules[index].matches(chunk, of: link), acting == nil { acting = index }
    }
    defer { removeSpent() }
    func note(_ kind: LinkConditioner.Event.Kind) {
      self.note(LinkConditioner.Event(time: now, direction: direction, kind: kind, chunk: chunk.place))
    }
    if muted.contains(Way(channel: channel, direction: direction)) {
      note(.muted)
      return .drop
    }
    guard let acting else { return .pass }
    switch rules[acting].action {
    case .drop:
      note(.dropped)
      return .drop
    case .delay(let delay):
      guard delay > .zero else { return .pass }
      note(.delayed(delay))
      return .delay(delay)
    case .duplicate:
      note(.duplicated)
      return .duplicate(rules[acting].part)
    case .reorder(let behind):
      guard behind > 0 else { return .pass }
      note(.reordered(behind: behind))
      return .reorder(behind: behind, rules[acting].part)
    case .corrupt:
      let first = chunk.beginsUnit ? channel.headLength : 0
      guard first < chunk.payload.count else { return .pass }
      let byte = Int.random(in: first..<chunk.payload.count, using: &rules[acting].generator)
      let bit = Int.random(in: 0..<8, using: &rules[acting].generator)
      note(.corrupted(byte: byte, bit: bit))
      return .corrupt(byte: byte, bit: bit)
    }
  }

  private mutating func removeSpent() { rules.removeAll(where: \.isSpent) }
}
