import LinkProtocol
import Testing
import Units

@testable import LinkTransport

@Suite("Rules of faults")
struct FaultRuleTests {
  private static let which: [(LinkConditioner.Which, [UInt32])] = [
    (.next(0), [10]), (.next(3), [13]), (.next(-1), []), (.range(1..<4), [11, 12, 13]), (.range(2..<2), []),
    (.every(3), [12, 15, 18]), (.every(1), Array(10..<20)), (.every(0), []), (.all, Array(10..<20)),
    (.random(probability: 0), []), (.random(probability: 1), Array(10..<20)),
  ]

  @Test("a chunk stream comes out byte for byte, without the unit that a rule drops")
  func literalBytes() {
    var rig = FlowRig()
    rig.apply(.drop, to: .unit, .next(1))
    rig.write([
      // Channel 2, last, 3 bytes, unit 7, offset 0, total 3.
      0x02, 0x01, 0x00, 0x03, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xA1, 0xA2, 0xA3,
      // Unit 8 in two chunks, a message between them.
      0x02, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xB1, 0xB2,
      0x00, 0x01, 0x00, 0x01, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0xC1,
      0x02, 0x01, 0x00, 0x01, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x03, 0xB3,
      0x02, 0x01, 0x00, 0x01, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0xD1,
    ])
    #expect(
      rig.passed() == [
        [
          0x02, 0x01, 0x00, 0x03, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xA1, 0xA2,
          0xA3,
        ],
        [0x00, 0x01, 0x00, 0x01, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0xC1],
        [0x02, 0x01, 0x00, 0x01, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0xD1],
      ])
    #expect(rig.log.map(\.kind) == [.dropped, .dropped])
    #expect(rig.log.map(\.chunk?.offset) == [0, 2])
    #expect(rig.log.allSatisfy { $0.chunk?.sequence == 8 })
    // Its work is done, so nothing has to look at what comes.
    #expect(!rig.rules.actsOn(.toApp))
  }

  @Test(
    "each way to choose counts from the moment the rule was applied",
    arguments: which)
  func choice(which: LinkConditioner.Which, expected: [UInt32]) {
    for part in [LinkConditioner.Part.unit, .chunk] {
      var rig = FlowRig()
      // Earlier ones don't count.
      for number in 0..<10 { rig.write(unit(UInt32(number))) }
      rig.apply(.drop, to: part, which)
      for number in 10..<20 { rig.write(unit(UInt32(number)), unit(UInt32(number), on: .photo)) }
      #expect(rig.log.compactMap(\.chunk?.sequence) == expected)
      #expect(rig.passed().count == 30 - expected.count)
    }
  }

  @Test("a unit that had begun to leave does not count, and its rest passes")
  func begunUnit() {
    var rig = FlowRig()
    rig.write(chunk(.video, 1, of: 6, [1, 2]))
    rig.apply(.drop, to: .unit, .next(0))
    rig.write(chunk(.video, 1, at: 2, of: 6, [3, 4]), chunk(.video, 1, at: 4, of: 6, [5, 6]), unit(2), unit(3))
    #expect(rig.log.map(\.chunk?.sequence) == [2])
    #expect(rig.passed().count == 4)
  }

  @Test("a rule on chunks counts chunks")
  func chunksCount() {
    var rig = FlowRig()
    rig.apply(.drop, to: .chunk, .next(1))
    rig.write(chunk(.video, 1, of: 3, [1]), chunk(.video, 1, at: 1, of: 3, [2]), chunk(.video, 1, at: 2, of: 3, [3]))
    #expect(rig.log.map(\.chunk?.offset) == [1])
  }

  @Test("sync units and others are told apart, in counting as in acting")
  func syncOnly() {
    var rig = FlowRig()
    rig.apply(.drop, to: .unit, .next(1), syncOnly: true)
    rig.apply(.drop, to: .unit, .next(2), syncOnly: false)
    for number in 0..<8 { rig.write(unit(UInt32(number), isSync: number.isMultiple(of: 3))) }
    #expect(rig.log.map(\.chunk?.sequence) == [3, 4])
    // The chunks of a sync unit are found by the unit's begin.
    var chunks = FlowRig()
    chunks.apply(.drop, to: .chunk, .all, syncOnly: true)
    let head = [UInt8](repeating: 0, count: 16)
    chunks.write(
      chunk(.video, 0, of: 18, head + [0]), chunk(.video, 0, at: 17, of: 18, [9]),
      chunk(.video, 1, of: 18, head + [1]), chunk(.video, 1, at: 17, of: 18, [9]))
    #expect(chunks.log.map(\.chunk?.sequence) == [1, 1])
    // Elsewhere it has no meaning.
    var photos = FlowRig()
    photos.apply(.drop, to: .unit, .next(0), on: .photo, syncOnly: true)
    photos.write(unit(0, on: .photo))
    #expect(photos.log.count == 1)
  }

  @Test("where several rules match, the first acts and each counts")
  func severalRules() {
    var rig = FlowRig()
    rig.apply(.drop, to: .unit, .next(0))
    rig.apply(.duplicate, to: .unit, .range(0..<2))
    rig.write(unit(0), unit(1), unit(2))
    #expect(rig.log.map(\.kind) == [.dropped, .duplicated])
    #expect(rig.passed() == [unit(1), unit(1), unit(2)])
    #expect(!rig.rules.actsOn(.toApp))
  }

  @Test("a muted channel's chunks vanish, the others live")
  func mute() {
    var rig = FlowRig()
    rig.rules.mute(.video, .toApp)
    rig.write(unit(0), unit(0, on: .control), unit(1))
    #expect(rig.passed() == [unit(0, on: .control)])
    #expect(rig.log.map(\.kind) == [.muted, .muted])
    rig.rules.unmute(.video, .toApp)
    rig.write(unit(2))
    #expect(rig.passed() == [unit(2)])
  }

  @Test("the seed decides, and nothing else does: the same log again, another log for another seed")
  func seeds() {
    func log(seed: UInt64, withPhotos: Bool = false) -> [LinkConditioner.Event] {
      var rig = FlowRig(seed: seed)
      rig.apply(.drop, to: .unit, .random(probability: 0.3))
      rig.apply(.corrupt, to: .chunk, .random(probability: 0.3))
      rig.apply(.drop, to: .unit, .random(probability: 0.3), on: .photo)
      for number in 0..<200 {
        rig.advance(to: number)
        if withPhotos { rig.write(unit(UInt32(number), on: .photo)) }
        rig.write(unit(UInt32(number)))
      }
      return rig.log.filter { $0.chunk?.channel == Channel.video.rawValue }
    }
    #expect(log(seed: 1) == log(seed: 1))
    #expect(log(seed: 1) != log(seed: 2))
    // What another channel carries changes nothing.
    #expect(log(seed: 1) == log(seed: 1, withPhotos: true))
    #expect((80...120).contains(log(seed: 1).count))
  }

  @Test("the log keeps its newest events")
  func logBound() {
    var rig = FlowRig()
    rig.apply(.drop, to: .unit, .all)
    for number in 0..<UInt32(FaultRules.logLimit + 10) { rig.write(unit(number, bytes: 1)) }
    #expect(rig.log.count == FaultRules.logLimit)
    #expect(rig.log.first?.chunk?.sequence == 10)
  }
}
