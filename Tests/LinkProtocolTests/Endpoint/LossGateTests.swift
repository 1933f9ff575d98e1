import LinkProtocol
import Testing
import Units

/// LOSS-1 and LOSS-2.
@Suite("Loss gate")
struct LossGateTests {
  private let keyframe: AccessUnit.Flags = [.sync, .parameterSets]
  private let start = Instant(nanoseconds: 1_000_000_000)

  @Test("lets a stream without losses through unmarked")
  func clean() {
    var gate = LossGate()
    #expect(gate.admit(sequence: 0, flags: keyframe, lostBefore: 0, at: start) == .deliver(discontinuity: false))
    for sequence: UInt32 in 1..<100 {
      #expect(gate.admit(sequence: sequence, flags: [], lostBefore: 0, at: start) == .deliver(discontinuity: false))
    }
    #expect(gate.nextDeadline == nil)
    let asks1 = gate.timeout(at: start + .seconds(10))
    #expect(!asks1)
    #expect(gate.gaps == 0)
  }

  @Test("withholds after a gap until a sync unit, which it marks")
  func gap() {
    var gate = LossGate()
    _ = gate.admit(sequence: 0, flags: keyframe, lostBefore: 0, at: start)
    #expect(gate.admit(sequence: 2, flags: [], lostBefore: 1, at: start) == .withhold)
    #expect(gate.isWaiting)
    #expect(gate.admit(sequence: 3, flags: [], lostBefore: 0, at: start) == .withhold)
    // A sync unit without its parameter sets can't be relied on: those may have been lost.
    #expect(gate.admit(sequence: 4, flags: .sync, lostBefore: 0, at: start) == .withhold)
    #expect(gate.admit(sequence: 5, flags: keyframe, lostBefore: 0, at: start) == .deliver(discontinuity: true))
    #expect(gate.admit(sequence: 6, flags: [], lostBefore: 0, at: start) == .deliver(discontinuity: false))
    #expect(gate.withheldUnits == 3)
    #expect(gate.gaps == 1)
    #expect(gate.nextDeadline == nil)
  }

  @Test("passes a sync unit that follows a gap at once, marked")
  func gapBeforeSync() {
    var gate = LossGate()
    _ = gate.admit(sequence: 0, flags: keyframe, lostBefore: 0, at: start)
    #expect(gate.admit(sequence: 9, flags: keyframe, lostBefore: 8, at: start) == .deliver(discontinuity: true))
    let asks2 = gate.timeout(at: start)
    #expect(!asks2)
  }

  @Test("asks at once, then after 150, 300 and 600 ms, then every 1.2 s")
  func backOff() {
    var gate = LossGate()
    _ = gate.admit(sequence: 0, flags: keyframe, lostBefore: 0, at: start)
    _ = gate.admit(sequence: 2, flags: [], lostBefore: 1, at: start)
    var now = start
    var asked: [Duration] = []
    while asked.count < 7, let deadline = gate.nextDeadline {
      now = max(now, deadline)
      let asks3 = gate.timeout(at: deadline - .nanoseconds(1))
      #expect(!asks3)
      if gate.timeout(at: now) { asked.append(now - start) }
    }
    #expect(asked == [0, 150, 450, 1050, 2250, 3450, 4650].map { .milliseconds($0) })
    #expect(gate.requests == 7)
    // A new gap starts over.
    _ = gate.admit(sequence: 3, flags: keyframe, lostBefore: 0, at: now)
    _ = gate.admit(sequence: 5, flags: [], lostBefore: 1, at: now)
    let asks4 = gate.timeout(at: now)
    #expect(asks4)
    #expect(gate.nextDeadline == now + .milliseconds(150))
  }

  @Test("obeys the sender's own mark")
  func senderMark() {
    var gate = LossGate()
    _ = gate.admit(sequence: 0, flags: keyframe, lostBefore: 0, at: start)
    #expect(
      gate.admit(sequence: 1, flags: keyframe.union(.discontinuity), lostBefore: 0, at: start)
        == .deliver(discontinuity: true))
    #expect(gate.admit(sequence: 2, flags: .discontinuity, lostBefore: 0, at: start) == .withhold)
    let asks5 = gate.timeout(at: start)
    #expect(asks5)
  }

  @Test("waits for the first sync unit of a stream, which is no discontinuity, and asks for it")
  func lateStart() {
    var gate = LossGate()
    #expect(gate.nextDeadline == nil)
    #expect(gate.admit(sequence: 7, flags: [], lostBefore: 0, at: start) == .withhold)
    let asks6 = gate.timeout(at: start)
    #expect(asks6)
    #expect(gate.admit(sequence: 8, flags: keyframe, lostBefore: 0, at: start) == .deliver(discontinuity: false))
  }

  @Test("lets nothing through twice, nor out of order, across the wrap")
  func repeats() {
    var gate = LossGate()
    _ = gate.admit(sequence: .max, flags: keyframe, lostBefore: 0, at: start)
    #expect(gate.admit(sequence: 0, flags: [], lostBefore: 0, at: start) == .deliver(discontinuity: false))
    #expect(gate.admit(sequence: .max, flags: keyframe, lostBefore: 0, at: start) == .withhold)
    #expect(gate.admit(sequence: 0, flags: [], lostBefore: 0, at: start) == .withhold)
    #expect(gate.admit(sequence: 1, flags: [], lostBefore: 0, at: start) == .deliver(discontinuity: false))
    #expect(gate.nextDeadline == nil)
  }
}
