import LinkProtocol
import Testing
import Units

@testable import LinkTransport

@Suite("A direction under faults")
struct ConditionedFlowTests {
  @Test("what is delayed comes so much later, whole, and others pass it")
  func delay() {
    var rig = FlowRig()
    rig.apply(.delay(.milliseconds(30)), to: .unit, .next(0))
    rig.write(chunk(.video, 0, of: 2, [1]))
    rig.advance(to: 10)
    rig.write(chunk(.video, 0, at: 1, of: 2, [2]), unit(1))
    #expect(rig.passed() == [unit(1)])
    rig.advance(to: 29)
    #expect(rig.passed().isEmpty)
    rig.advance(to: 30)
    #expect(rig.passed() == [chunk(.video, 0, of: 2, [1])])
    rig.advance(to: 40)
    #expect(rig.passed() == [chunk(.video, 0, at: 1, of: 2, [2])])
    #expect(rig.flow.isIdle)
  }

  @Test("a repeated chunk comes right behind itself, a repeated unit behind its last chunk")
  func duplicate() {
    let (a, b) = (chunk(.video, 0, of: 2, [1]), chunk(.video, 0, at: 1, of: 2, [2]))
    var units = FlowRig()
    units.apply(.duplicate, to: .unit, .next(0))
    units.write(a, b, unit(1))
    #expect(units.passed() == [a, b, a, b, unit(1)])
    #expect(units.flow.isIdle)
    var chunks = FlowRig()
    chunks.apply(.duplicate, to: .chunk, .next(0))
    chunks.write(a, b, unit(1))
    #expect(chunks.passed() == [a, a, b, unit(1)])
    #expect(chunks.flow.isIdle)
  }

  @Test("what is reordered passes behind so many later ones of its channel")
  func reorder() {
    var rig = FlowRig()
    rig.apply(.reorder(behind: 2), to: .unit, .next(0))
    let (a, b) = (chunk(.video, 0, of: 2, [1]), chunk(.video, 0, at: 1, of: 2, [2]))
    rig.write(a, unit(0, on: .control), b, unit(1))
    #expect(rig.passed() == [unit(0, on: .control), unit(1)])
    rig.write(unit(2), unit(3))
    #expect(rig.passed() == [unit(2), a, b, unit(3)])
    #expect(rig.flow.isIdle)

    var chunks = FlowRig()
    chunks.apply(.reorder(behind: 1), to: .chunk, .next(0))
    chunks.write(a, b, unit(1))
    #expect(chunks.passed() == [b, a, unit(1)])
    // All of them shifted by one is no standstill.
    var all = FlowRig()
    all.apply(.reorder(behind: 1), to: .unit, .all)
    all.write(unit(0), unit(1), unit(2))
    #expect(all.passed() == [unit(0), unit(1)])
    all.flow.end(at: all.now)
    #expect(all.passed() == [unit(2), []])
  }

  @Test("a corrupted unit has one bit flipped in each chunk, behind its head", arguments: 0..<20)
  func corrupt(seed: Int) throws {
    var rig = FlowRig(seed: UInt64(seed))
    rig.apply(.corrupt, to: .unit, .next(0))
    let whole = Array(unit(0, bytes: 60)[ChunkHeader.length...])
    let chunks = [
      chunk(.video, 0, of: 60, Array(whole[..<10])), chunk(.video, 0, at: 10, of: 60, Array(whole[10..<40])),
      chunk(.video, 0, at: 40, of: 60, Array(whole[40...])),
    ]
    rig.write(chunks[0], chunks[1], chunks[2], unit(1))
    let passed = rig.passed()
    try #require(passed.count == 4)
    func flipped(_ a: [UInt8], _ b: [UInt8]) -> [Int] {
      zip(a, b).enumerated().flatMap { index, pair in
        Array(repeating: index, count: (pair.0 ^ pair.1).nonzeroBitCount)
      }
    }
    // The first chunk has nothing but a part of the head.
    #expect(passed[0] == chunks[0])
    #expect(flipped(passed[1], chunks[1]).count == 1)
    #expect(flipped(passed[2], chunks[2]).count == 1)
    #expect(passed[3] == unit(1))
    #expect(flipped(passed[1], chunks[1]).allSatisfy { $0 >= ChunkHeader.length })
    let single = unit(0, bytes: 60)
    var again = FlowRig(seed: UInt64(seed))
    again.apply(.corrupt, to: .unit, .next(0))
    again.write(single)
    #expect(flipped(again.passed()[0], single).allSatisfy { $0 >= ChunkHeader.length + Channel.video.headLength })
  }

  @Test("under a cap each chunk takes its time on the wire, and the writer has little room")
  func rate() {
    // 1000 bytes a millisecond.
    var rig = FlowRig(ConditionedFlow.Settings(condition: LinkCondition(rate: .bitsPerSecond(8_000_000))))
    let units = (0..<4).map { unit(UInt32($0), bytes: 1000 - ChunkHeader.length) }
    let best = rig.flow.askRoom()
    #expect(best == 50_000)
    for unit in units { rig.write(unit) }
    #expect(rig.passed().isEmpty)
    #expect(rig.flow.askRoom() == 46_000)
    #expect(rig.flow.nextDeadline == Instant(nanoseconds: 1_000_000))
    rig.advance(to: 1)
    #expect(rig.passed() == [units[0]])
    rig.advance(to: 3)
    #expect(rig.passed() == [units[1], units[2]])
    rig.advance(to: 4)
    #expect(rig.passed() == [units[3]])
    // A wire that rested does not make up for it.
    rig.advance(to: 100)
    rig.write(units[0])
    #expect(rig.flow.nextDeadline == Instant(nanoseconds: 101_000_000))
    // Nothing at all under a cap of nothing; all at once without one.
    rig.flow.set(.init(condition: LinkCondition(rate: .bitsPerSecond(0))), at: rig.now)
    #expect(rig.flow.nextDeadline == nil)
    rig.advance(to: 10_000)
    #expect(rig.passed().isEmpty)
    rig.flow.set(.init(), at: rig.now)
    #expect(rig.passed() == [units[0]])
    #expect(rig.flow.isIdle)
  }

  @Test("a writer that was told of little room hears once when there is half of it again")
  func writable() {
    var rig = FlowRig(ConditionedFlow.Settings(condition: LinkCondition(rate: .bitsPerSecond(800_000))))
    let best = rig.flow.askRoom()
    #expect(best == ConditionedFlow.leastPacedCapacity)
    rig.write(unit(0, bytes: 4096), unit(1, bytes: 4096))
    #expect(rig.flow.askRoom() == 0)
    #expect(rig.flow.takeWritable() == false)
    rig.advance(to: 42)
    #expect(rig.passed().count == 1)
    #expect(rig.flow.takeWritable() == true)
    #expect(rig.flow.takeWritable() == false)
    #expect(rig.flow.askRoom() == 4112)
  }

  @Test("latency and jitter keep the order", arguments: 0..<10)
  func latency(seed: Int) {
    let settings = ConditionedFlow.Settings(
      condition: LinkCondition(latency: .milliseconds(20), jitter: .milliseconds(30)))
    var rig = FlowRig(seed: UInt64(seed), settings)
    var arrivals: [Int] = []
    var order: [[UInt8]] = []
    for time in 0..<200 {
      rig.advance(to: time)
      if time < 100 { rig.write(unit(UInt32(time))) }
      let passed = rig.passed()
      arrivals += passed.map { _ in time }
      order += passed
    }
    #expect(order == (0..<100).map { unit(UInt32($0)) })
    #expect(zip(arrivals, 0..<100).allSatisfy { $0 >= $1 + 20 && $0 <= $1 + 51 })
    #expect(rig.flow.waitingBytes == 0)
  }

  @Test("what is held waits, up to a bound that the writer sees, and comes at once and in order")
  func hold() {
    var rig = FlowRig(ConditionedFlow.Settings(condition: LinkCondition(latency: .milliseconds(5))))
    rig.write(unit(0))
    rig.flow.set(.init(condition: LinkCondition(latency: .milliseconds(5)), isHeld: true), at: rig.now)
    rig.write(unit(1))
    rig.advance(to: 1000)
    #expect(rig.passed().isEmpty)
    #expect(rig.flow.heldBytes == 2 * 56)
    var writes = 0
    while rig.flow.askRoom() > 0, writes < 1000 {
      rig.write(unit(UInt32(2 + writes), bytes: 4000))
      writes += 1
    }
    #expect(writes == 65)
    rig.advance(to: 2000)
    rig.flow.set(.init(), at: rig.now)
    #expect(rig.passed().map { $0[7] } == (0..<67).map { UInt8($0) })
    #expect(rig.flow.isIdle)
  }

  @Test("an end is seen behind all that was written before it")
  func end() {
    var rig = FlowRig(
      ConditionedFlow.Settings(condition: LinkCondition(rate: .bitsPerSecond(448_000), latency: .milliseconds(5))))
    rig.apply(.delay(.milliseconds(30)), to: .unit, .next(0))
    rig.apply(.reorder(behind: 5), to: .unit, .next(1))
    rig.write(unit(0), unit(1), unit(2))
    rig.flow.end(at: rig.now)
    rig.write(unit(3))
    rig.advance(to: 100)
    #expect(rig.passed() == [unit(2), unit(1), unit(0), []])
    #expect(rig.flow.askRoom() == 0)
    // One that is held is not seen at all.
    var held = FlowRig(ConditionedFlow.Settings(isHeld: true))
    held.flow.end(at: held.now)
    held.advance(to: 1000)
    #expect(held.passed().isEmpty)
  }

  @Test("what no endpoint writes passes as it is")
  func noChunks() {
    var rig = FlowRig()
    rig.apply(.drop, to: .chunk, .all)
    rig.write(unit(0), [1, 2, 3])
    #expect(rig.passed() == [[1, 2, 3]])
    let promising = Array(unit(1).dropLast())
    rig.write(promising)
    #expect(rig.passed() == [promising])
  }

  @Test("all that goes in comes out or is in the log", arguments: 0..<40)
  func conservation(seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    var rig = FlowRig(
      seed: UInt64(seed),
      ConditionedFlow.Settings(
        condition: LinkCondition(
          rate: .bitsPerSecond(4_000_000), latency: .milliseconds(3), jitter: .milliseconds(9))))
    let actions: [LinkConditioner.Action] = [
      .drop, .delay(.milliseconds(15)), .duplicate, .reorder(behind: 3), .corrupt,
    ]
    var expected: [[UInt8]] = []
    var passed: [[UInt8]] = []
    for number in 0..<300 {
      rig.advance(to: number)
      if Int.random(in: 0..<20, using: &generator) == 0 {
        let action = actions[Int.random(in: 0..<actions.count, using: &generator)]
        let part = Bool.random(using: &generator) ? LinkConditioner.Part.unit : .chunk
        rig.apply(action, to: part, .random(probability: 0.3), on: Bool.random(using: &generator) ? .video : .photo)
      }
      let channel = Bool.random(using: &generator) ? Channel.video : .photo
      let total = Int.random(in: 30...300, using: &generator)
      let chunks = stride(from: 0, to: total, by: 100).map { offset in
        chunk(
          channel, UInt32(number), at: UInt32(offset), of: UInt32(total),
          [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: min(100, total - offset)))
      }
      rig.write(chunks.flatMap { $0 })
      expected += chunks
      passed += rig.passed()
      #expect(rig.flow.waitingBytes >= 0)
    }
    rig.flow.clear(at: rig.now)
    passed += rig.passed()
    #expect(rig.flow.isIdle)
    // By header, since corruption changes the rest.
    func counted(_ chunks: [[UInt8]]) -> [ArraySlice<UInt8>: Int] {
      chunks.reduce(into: [:]) { $0[$1[..<ChunkHeader.length], default: 0] += 1 }
    }
    var wanted = counted(expected)
    let written = Dictionary(
      expected.compactMap { chunk in WrittenChunk.cut(chunk).chunks.first.map { ($0.place, chunk) } },
      uniquingKeysWith: { first, _ in first })
    for event in rig.log {
      let header = try #require(event.chunk.flatMap { written[$0] })
      switch event.kind {
      case .dropped: wanted[header[..<ChunkHeader.length], default: 0] -= 1
      case .duplicated: wanted[header[..<ChunkHeader.length], default: 0] += 1
      default: break
      }
    }
    // Apart, as the expectation would print them all.
    let agrees = counted(passed) == wanted.filter { $0.value > 0 }
    #expect(agrees)
    #expect(rig.log.count > 10)
  }
}
