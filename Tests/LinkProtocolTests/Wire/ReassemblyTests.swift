import TestSupport
import Testing
import Units

@testable import LinkProtocol

/// LOSS-4: order, repeats and cuts of chunks have no effect on the payload.
@Suite("Reassembly")
struct ReassemblyTests {
  private let now = Instant(nanoseconds: 1_000_000_000)

  private func reassembler(
    _ channel: Channel = .video, firstSequence: UInt32 = 0, change: (inout LinkLimits) -> Void = { _ in }
  ) -> ChannelReassembler {
    var limits = LinkLimits()
    limits.firstSequence = firstSequence
    change(&limits)
    return ChannelReassembler(channel: channel, limits: limits)
  }

  private func unit(_ number: UInt32, count: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: UInt64(number))
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  private func piece(_ sequence: UInt32, _ range: Range<Int>, of total: Int) -> Deframer.Piece {
    Deframer.Piece(
      channel: Channel.video.rawValue, sequence: sequence, offset: range.lowerBound, total: total, range: range)
  }

  private func drain(_ reassembler: inout ChannelReassembler) -> [ChannelReassembler.WholeUnit] {
    var units: [ChannelReassembler.WholeUnit] = []
    while let unit = reassembler.nextUnit() { units.append(unit) }
    return units
  }

  @Test("gives the bytes out whole after shuffling, repeating and recutting, across the wrap", arguments: 0..<40)
  func shuffled(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let first: UInt32 = .max - 3
    let units = (0..<8).map { unit(UInt32($0), count: Int.random(in: 21...5000, using: &generator)) }
    var pieces: [(sequence: UInt32, range: Range<Int>, bytes: [UInt8])] = []
    for (index, bytes) in units.enumerated() {
      for _ in 0..<2 {
        // Each time with another chunk size.
        let size = Int.random(in: 40...1500, using: &generator)
        for start in stride(from: 0, to: bytes.count, by: size) {
          pieces.append((first &+ UInt32(index), start..<min(start + size, bytes.count), bytes))
        }
      }
    }
    pieces.shuffle(using: &generator)

    var reassembler = reassembler(firstSequence: first)
    var whole: [ChannelReassembler.WholeUnit] = []
    for next in pieces {
      try reassembler.add(piece(next.sequence, next.range, of: next.bytes.count), of: next.bytes, at: now)
      whole += drain(&reassembler)
    }
    #expect(whole.map(\.sequence) == (0..<8).map { first &+ UInt32($0) })
    #expect(whole.map { $0.head + $0.body } == units)
    #expect(whole.allSatisfy { $0.head.count == UnitHead.videoLength })
    #expect(reassembler.lostUnits == 0)
    #expect(reassembler.repeatedBytes > 0)
  }

  @Test("holds a whole unit back for a missing one, then counts that one as lost")
  func patience() throws {
    var reassembler = reassembler()
    let bytes = unit(1, count: 100)
    try reassembler.add(piece(1, 0..<100, of: 100), of: bytes, at: now)
    #expect(drain(&reassembler).isEmpty)
    let deadline = try #require(reassembler.nextDeadline)
    #expect(deadline == now + LinkLimits().reorderPatience)
    try reassembler.timeout(at: deadline - .nanoseconds(1))
    #expect(drain(&reassembler).isEmpty)
    try reassembler.timeout(at: deadline)
    let next = reassembler.nextUnit()
    let given = try #require(next)
    #expect(given.sequence == 1)
    #expect(given.lostSoFar == 1)
    #expect(reassembler.nextDeadline == nil)
    // It came after all: too late, and no trouble.
    try reassembler.add(piece(0, 0..<100, of: 100), of: bytes, at: now)
    #expect(drain(&reassembler).isEmpty)
    #expect(reassembler.lostUnits == 1)
  }

  @Test("says with each unit how many were lost before it")
  func losses() throws {
    var reassembler = reassembler()
    for sequence: UInt32 in [0, 3, 4, 7] {
      try reassembler.add(piece(sequence, 0..<50, of: 50), of: unit(sequence, count: 50), at: now)
    }
    try reassembler.timeout(at: now + LinkLimits().reorderPatience)
    let units = drain(&reassembler)
    #expect(units.map(\.sequence) == [0, 3, 4, 7])
    #expect(units.map(\.lostSoFar) == [0, 2, 2, 4])
  }

  @Test("gives up what is missing when a unit is too far ahead")
  func window() throws {
    var reassembler = reassembler()
    try reassembler.add(piece(2, 0..<50, of: 50), of: unit(2, count: 50), at: now)
    try reassembler.add(piece(16, 0..<50, of: 50), of: unit(16, count: 50), at: now)
    // Of 0 to 16, sixteen may wait: 0 is given up, 1 and 2 not yet.
    #expect(reassembler.lostUnits == 1)
    try reassembler.add(piece(1_000_000, 0..<50, of: 50), of: unit(3, count: 50), at: now)
    let units = drain(&reassembler)
    #expect(units.map(\.sequence) == [2, 16])
    #expect(units.map(\.lostSoFar) == [2, 15])
    try reassembler.timeout(at: now + .seconds(1))
    let last = reassembler.nextUnit()
    #expect(last?.lostSoFar == 999_998)
  }

  @Test("ends the link when a message is missing")
  func controlLoss() throws {
    var reassembler = reassembler(.control)
    try reassembler.add(piece(1, 0..<2, of: 2), of: [0, 3], at: now)
    try reassembler.timeout(at: now + LinkLimits().reorderPatience)
    #expect(throws: LinkProtocolError(.controlUnitLost(before: 1), stage: .reassembly)) {
      try reassembler.timeout(at: now + LinkLimits().controlPatience)
    }
  }

  @Test("refuses lengths outside the limits and lengths that change")
  func lengths() throws {
    var reassembler = reassembler()
    let bytes = [UInt8](repeating: 0, count: 100)
    #expect(
      throws: LinkProtocolError(
        .unitTooLong(.video, length: 8_388_609, limit: 8_388_608), stage: .reassembly)
    ) { try reassembler.add(piece(0, 0..<10, of: 8_388_609), of: bytes, at: now) }
    #expect(throws: LinkProtocolError(.unitTooShort(.video, length: 20), stage: .reassembly)) {
      try reassembler.add(piece(0, 0..<10, of: 20), of: bytes, at: now)
    }
    try reassembler.add(piece(0, 0..<10, of: 100), of: bytes, at: now)
    #expect(throws: LinkProtocolError(.totalChanged(.video, sequence: 0), stage: .reassembly)) {
      try reassembler.add(piece(0, 10..<20, of: 99), of: bytes, at: now)
    }
  }

  @Test("holds a bounded amount, whatever is claimed and left incomplete")
  func bounds() throws {
    var reassembler = reassembler { limits in
      limits.videoUnit = 10_000
      limits.piecesAhead = 4
    }
    let bytes = unit(1, count: 10_000)
    // Pieces beyond a gap, more than are kept: the unit waits for repeats, and completes with them.
    for start in stride(from: 9000, to: 0, by: -1000) {
      try reassembler.add(piece(0, start..<start + 1000, of: 10_000), of: bytes, at: now)
    }
    for start in stride(from: 0, to: 10_000, by: 1000) {
      try reassembler.add(piece(0, start..<start + 1000, of: 10_000), of: bytes, at: now)
    }
    let whole = reassembler.nextUnit()
    #expect(whole.map { $0.head + $0.body } == bytes)

    // Units that are never finished.
    #expect(throws: LinkProtocolError(.assemblyOverflow(.video), stage: .reassembly)) {
      for sequence: UInt32 in 1..<10 {
        try reassembler.add(piece(sequence, 0..<9000, of: 10_000), of: bytes, at: now)
      }
    }
  }

  @Test("reports how much of the next unit has come")
  func progress() throws {
    var reassembler = reassembler()
    let bytes = unit(0, count: 100)
    #expect(reassembler.progress.isEmpty)
    try reassembler.add(piece(0, 0..<60, of: 100), of: bytes, at: now)
    let progress = try #require(reassembler.progress.first)
    #expect(progress.received == 40)
    #expect(progress.total == 80)
    #expect(progress.head == Array(bytes[..<20]))
  }
}
