import Testing
import Units

@testable import LinkProtocol

/// What feedback says of a link.
struct VideoFlowTests {
  private var log = DepartureLog()
  private var sequence: UInt32 = 0

  /// A unit leaves at a time in milliseconds, is under way so long, and is acknowledged when it has arrived.
  private mutating func unit(at time: Double, onTheWay: Double, clockOffset: Double = 0) {
    log.left(sequence, at: instant(time))
    log.take(feedback(sequence, arrived: time + onTheWay + clockOffset), at: instant(time + onTheWay + 1))
    sequence &+= 1
  }

  private func instant(_ milliseconds: Double) -> Instant {
    Instant(nanoseconds: Int64(saturating: milliseconds * 1e6))
  }

  private func feedback(_ sequence: UInt32, arrived: Double) -> Feedback {
    Feedback(
      channel: .video, highestSequence: sequence, arrived: instant(arrived), unitsReceived: sequence, unitsLost: 0,
      bytesReceived: 1000)
  }

  @Test("the delay is what a unit took beyond the fastest, whatever the clocks differ by", arguments: [0, 1e7, -1e7])
  mutating func delay(offset: Double) {
    unit(at: 1000, onTheWay: 40, clockOffset: offset)
    #expect(log.travelDelay == .zero)
    unit(at: 1100, onTheWay: 190, clockOffset: offset)
    #expect(log.travelDelay == .milliseconds(150))
    unit(at: 1400, onTheWay: 30, clockOffset: offset)
    #expect(log.travelDelay == .zero)
  }

  @Test("clocks that drift apart by 300 ppm make no delay to speak of")
  mutating func drift() {
    for step in 0..<600 {
      let time = 1000 + Double(step) * 100
      unit(at: time, onTheWay: 20, clockOffset: time * 300e-6)
      #expect(log.travelDelay < .milliseconds(7))
    }
  }

  @Test("a route that stays longer is the normal one after twenty seconds at most")
  mutating func route() {
    unit(at: 0, onTheWay: 20)
    for step in 1..<230 { unit(at: Double(step) * 100, onTheWay: 220) }
    #expect(log.travelDelay == .zero)
  }

  @Test("a receiver's clock that lies makes a delay no longer than the feedback took to come")
  mutating func lies() {
    unit(at: 0, onTheWay: 20)
    log.left(sequence, at: instant(100))
    for arrived in [Int64.max, .min, 0, 1] {
      var report = feedback(sequence, arrived: 0)
      report.arrived = Instant(nanoseconds: arrived)
      log.take(report, at: instant(160))
      #expect(log.travelDelay >= .zero && log.travelDelay <= .milliseconds(60))
    }
    // Of a unit that never left, nothing is said.
    log.take(feedback(77_777, arrived: 5000), at: instant(5000))
    #expect(log.travelDelay <= .milliseconds(60))
  }

  @Test("unit numbers may wrap around")
  mutating func wraps() {
    sequence = .max - 2
    for step in 0..<6 {
      unit(at: Double(step) * 100, onTheWay: step == 4 ? 90 : 20)
      #expect(log.travelDelay == (step == 4 ? .milliseconds(70) : .zero))
    }
  }

  @Test("a rate control that is told anything stays within its bounds")
  func anything() {
    var generator = SeededGenerator(seed: 11)
    var control = RateControl(start: .kilobitsPerSecond(1500), ceiling: .kilobitsPerSecond(1500))
    var now = Instant(nanoseconds: 0)
    let extremes: [UInt64] = [0, 1, 1000, .max / 2, .max]
    for _ in 0..<20_000 {
      now = now + .milliseconds(Int.random(in: 0...200, using: &generator))
      var flow = VideoFlow(time: now)
      flow.sentBytes = extremes.randomElement(using: &generator) ?? 0
      flow.acknowledgedBytes = extremes.randomElement(using: &generator) ?? 0
      flow.acknowledged = Instant(nanoseconds: Int64.random(in: .min ... .max, using: &generator))
      flow.travelDelay = .milliseconds(Int.random(in: 0...2000, using: &generator))
      flow.waitingAge = .milliseconds(Int.random(in: 0...500, using: &generator))
      flow.overflows = extremes.randomElement(using: &generator) ?? 0
      flow.audioRate = .bitsPerSecond([0, 64_000, 3_000_000, .max].randomElement(using: &generator) ?? 0)
      flow.audioSentBytes = extremes.randomElement(using: &generator) ?? 0
      flow.audioAcknowledgedBytes = extremes.randomElement(using: &generator) ?? 0
      flow.audioAcknowledged = Instant(nanoseconds: Int64.random(in: .min ... .max, using: &generator))
      _ = control.look(flow)
      #expect(control.estimate >= RateRules.floor && control.estimate <= control.ceiling)
      #expect(control.target > .kilobitsPerSecond(0) && control.target <= control.estimate)
    }
  }
}
