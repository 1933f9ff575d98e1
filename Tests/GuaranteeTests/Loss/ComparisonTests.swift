import LinkProtocol
import MWDATCamera
import TestSupport
import Testing
import Units

/// That the comparison which the loss tests rest on can fail: without the gate, wrong pictures come out and are found.
@Suite(.exclusive(.mockKit))
struct ComparisonTests {
  @Test(
    "LOSS-3: a decoder that is given everything behind a lost unit shows wrong pictures; behind the gate it shows none")
  func bypass() async throws {
    try await LossRun.with(LossCase(codec: .hvc1, keyframeInterval: .seconds(1))) { run in
      run.clock.advance(by: .seconds(2))
      let entries = Array(run.tape.entries.prefix(48))
      let reference = try SentTape.reference(entries)
      #expect(try StrangeDecoder.pictures(ofUnits: entries.map(\.unit.payload), size: LossTests.size) == reference)

      let lost = try #require(entries.indices.first { $0 > 5 && !entries[$0].isSync })
      let bypassed = entries.indices.filter { $0 != lost }
      let wrong = try differing(bypassed, entries, reference)
      #expect(!wrong.isEmpty)
      let nextSync = try #require(entries.indices.first { $0 > lost && entries[$0].isSync })
      #expect(wrong.allSatisfy { (lost..<nextSync).contains($0) })

      var gate = LossGate()
      let gated = bypassed.filter { index in
        let verdict = gate.admit(
          sequence: UInt32(index), flags: entries[index].unit.flags, lostBefore: index == lost + 1 ? 1 : 0)
        guard case .deliver = verdict else { return false }
        return true
      }
      #expect(gated.count == entries.count - (nextSync - lost))
      #expect(try differing(gated, entries, reference).isEmpty)
    }
  }

  /// Which of these units a stranger decodes to something else than the reference.
  private func differing(_ places: [Int], _ entries: [SentTape.Entry], _ reference: [[UInt8]]) throws -> [Int] {
    let pictures = try StrangeDecoder.pictures(
      ofUnits: places.map { entries[$0].unit.payload }, size: LossTests.size)
    try #require(pictures.count == places.count)
    return zip(places, pictures).filter { reference[$0] != $1 }.map(\.0)
  }

  @Test("LOSS-3: a picture that belongs to another moment is found")
  func mismatch() async throws {
    try await LossRun.with(LossCase(codec: .raw)) { run in
      run.clock.advance(by: .seconds(1))
      #expect(try run.wrongFrames().isEmpty)
      let frame = try #require(run.frames.values.last)
      run.frames.record(
        .init(
          presentation: frame.presentation - LossRun.interval, delivered: frame.delivered, isKeyframe: true,
          isDiscontinuity: false, picture: frame.picture, payload: []))
      #expect(try run.wrongFrames().count == 1)
    }
  }
}
