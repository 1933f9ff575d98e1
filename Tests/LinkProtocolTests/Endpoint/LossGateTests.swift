import LinkProtocol
import Testing
import Units

@Suite("Loss gate")
struct LossGateTests {
  private let keyframe: AccessUnit.Flags = [.sync, .parameterSets]

  @Test("lets a stream without losses through unmarked")
  func clean() {
    var gate = LossGate()
    #expect(gate.admit(sequence: 0, flags: keyframe, lostBefore: 0) == .deliver(discontinuity: false))
    for sequence: UInt32 in 1..<100 {
      #expect(gate.admit(sequence: sequence, flags: [], lostBefore: 0) == .deliver(discontinuity: false))
    }
    #expect(gate.gaps == 0)
  }

  @Test("withholds after a gap until a sync unit, which it marks, and asks for it once (LOSS-1)")
  func gap() {
    var gate = LossGate()
    _ = gate.admit(sequence: 0, flags: keyframe, lostBefore: 0)
    #expect(gate.admit(sequence: 2, flags: [], lostBefore: 1) == .withhold(asks: true))
    #expect(gate.isWaiting)
    #expect(gate.admit(sequence: 3, flags: [], lostBefore: 0) == .withhold(asks: false))
    // A sync unit without its parameter sets can't be relied on: those may have been lost.
    #expect(gate.admit(sequence: 4, flags: .sync, lostBefore: 0) == .withhold(asks: false))
    #expect(gate.withheldInWait == 3)
    #expect(gate.admit(sequence: 5, flags: keyframe, lostBefore: 0) == .deliver(discontinuity: true))
    #expect(gate.withheldInWait == 3)
    #expect(gate.admit(sequence: 6, flags: [], lostBefore: 0) == .deliver(discontinuity: false))
    #expect(gate.withheldUnits == 3)
    #expect(gate.gaps == 1)
    // Each wait counts for itself.
    #expect(gate.admit(sequence: 8, flags: [], lostBefore: 1) == .withhold(asks: true))
    #expect(gate.withheldInWait == 1)
  }

  @Test("passes a sync unit that follows a gap at once, marked")
  func gapBeforeSync() {
    var gate = LossGate()
    _ = gate.admit(sequence: 0, flags: keyframe, lostBefore: 0)
    _ = gate.admit(sequence: 2, flags: [], lostBefore: 1)
    _ = gate.admit(sequence: 3, flags: keyframe, lostBefore: 0)
    #expect(gate.admit(sequence: 9, flags: keyframe, lostBefore: 5) == .deliver(discontinuity: true))
    #expect(gate.withheldInWait == 0)
    #expect(gate.gaps == 2)
  }

  @Test("obeys the sender's own mark (LOSS-1)")
  func senderMark() {
    var gate = LossGate()
    _ = gate.admit(sequence: 0, flags: keyframe, lostBefore: 0)
    #expect(
      gate.admit(sequence: 1, flags: keyframe.union(.discontinuity), lostBefore: 0) == .deliver(discontinuity: true))
    #expect(gate.admit(sequence: 2, flags: .discontinuity, lostBefore: 0) == .withhold(asks: true))
  }

  @Test("treats what can't be used like what was lost (LOSS-1)")
  func unusable() {
    var gate = LossGate()
    _ = gate.admit(sequence: 0, flags: keyframe, lostBefore: 0)
    let begins = gate.lose()
    #expect(begins)
    let goesOn = gate.lose()
    #expect(!goesOn)
    #expect(gate.admit(sequence: 2, flags: [], lostBefore: 0) == .withhold(asks: false))
    #expect(gate.admit(sequence: 3, flags: keyframe, lostBefore: 0) == .deliver(discontinuity: true))
    #expect(gate.gaps == 1)
  }

  @Test("waits for the first sync unit of a stream, which is no discontinuity, and asks for it")
  func lateStart() {
    var gate = LossGate()
    #expect(gate.admit(sequence: 7, flags: [], lostBefore: 0) == .withhold(asks: true))
    #expect(gate.admit(sequence: 8, flags: keyframe, lostBefore: 0) == .deliver(discontinuity: false))
  }

  @Test("lets nothing through twice, nor out of order, across the wrap (LOSS-4)")
  func repeats() {
    var gate = LossGate()
    _ = gate.admit(sequence: .max, flags: keyframe, lostBefore: 0)
    #expect(gate.admit(sequence: 0, flags: [], lostBefore: 0) == .deliver(discontinuity: false))
    #expect(gate.admit(sequence: .max, flags: keyframe, lostBefore: 0) == .withhold(asks: false))
    #expect(gate.admit(sequence: 0, flags: [], lostBefore: 0) == .withhold(asks: false))
    #expect(gate.admit(sequence: 1, flags: [], lostBefore: 0) == .deliver(discontinuity: false))
    #expect(!gate.isWaiting)
  }
}
