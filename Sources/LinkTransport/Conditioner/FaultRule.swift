import LinkProtocol
import Units

/// A chunk as a sender wrote it.
struct WrittenChunk: Hashable, Sendable {
  var header: ChunkHeader
  /// Header and payload.
  var bytes: [UInt8]

  var payload: ArraySlice<UInt8> { bytes[ChunkHeader.length...] }
  var beginsUnit: Bool { header.offset == 0 }

  var place: LinkConditioner.Chunk {
    LinkConditioner.Chunk(
      channel: header.channel, sequence: header.sequence, offset: header.offset, length: header.payloadLength)
  }

  /// Cuts what was written at once into its chunks. What can't be read, which no endpoint writes, is the rest.
  static func cut(_ bytes: [UInt8]) -> (chunks: [WrittenChunk], rest: [UInt8]) {
    var chunks: [WrittenChunk] = []
    var position = 0
    while bytes.count - position >= ChunkHeader.length,
      let header = try? ChunkHeader(Array(bytes[position..<position + ChunkHeader.length]))
    {
      let end = position + ChunkHeader.length + Int(header.payloadLength)
      guard end <= bytes.count else { break }
      chunks.append(WrittenChunk(header: header, bytes: Array(bytes[position..<end])))
      position = end
    }
    return (chunks, Array(bytes[position...]))
  }
}

/// One rule, what it has counted and what it has decided.
struct FaultRule: Sendable {
  let action: LinkConditioner.Action
  let part: LinkConditioner.Part
  let which: LinkConditioner.Which
  let channel: Channel
  let direction: LinkConditioner.Direction
  let syncOnly: Bool?
  /// Its own, so that what one channel carries does not change what becomes of another.
  var generator: SeededGenerator

  /// Parts that it could have acted on.
  private var count = 0
  /// The unit under way, by link: a unit that began before the rule is in none.
  private var current: [UInt64: Current] = [:]

  private struct Current: Sendable {
    var sequence: UInt32
    var isEligible: Bool
    var acts: Bool
  }

  init(
    action: LinkConditioner.Action, part: LinkConditioner.Part, which: LinkConditioner.Which, channel: Channel,
    direction: LinkConditioner.Direction, syncOnly: Bool?, seed: UInt64
  ) {
    self.action = action
    self.part = part
    self.which = which
    self.channel = channel
    self.direction = direction
    self.syncOnly = channel == .video ? syncOnly : nil
    generator = SeededGenerator(seed: seed)
  }

  /// Counts a chunk of its channel and direction; true when it is to be acted on.
  mutating func matches(_ chunk: WrittenChunk, of link: UInt64) -> Bool {
    if chunk.beginsUnit {
      let isEligible = isEligible(chunk)
      let acts = part == .unit && isEligible && countOne()
      current[link] = Current(sequence: chunk.header.sequence, isEligible: isEligible, acts: acts)
    }
    let unit = current[link].flatMap { $0.sequence == chunk.header.sequence ? $0 : nil }
    if chunk.header.isLast { current[link] = nil }
    switch part {
    case .unit: return unit?.acts ?? false
    case .chunk: return (unit?.isEligible ?? (syncOnly == nil)) && countOne()
    }
  }

  mutating func forget(link: UInt64) { current[link] = nil }

  /// It will never act again.
  var isSpent: Bool {
    guard let bound else { return false }
    return count >= bound && !current.values.contains(where: \.acts)
  }

  private var bound: Int? {
    switch which {
    case .next(let index): index < 0 ? 0 : index.addingSaturating(1)
    case .range(let range): range.isEmpty ? 0 : range.upperBound
    case .every(let period): period < 1 ? 0 : nil
    case .all: nil
    case .random(let probability): probability > 0 ? nil : 0
    }
  }

  private func isEligible(_ chunk: WrittenChunk) -> Bool {
    guard let syncOnly else { return true }
    return AccessUnit.Flags(videoUnitBegin: chunk.payload)?.contains(.sync) == syncOnly
  }

  private mutating func countOne() -> Bool {
    defer { count = count.addingSaturating(1) }
    switch which {
    case .next(let index): return count == index
    case .range(let range): return range.contains(count)
    case .every(let period): return period > 0 && (count + 1).isMultiple(of: period)
    case .all: return true
    case .random(let probability): return Double.random(in: 0..<1, using: &generator) < probability
    }
  }
}
