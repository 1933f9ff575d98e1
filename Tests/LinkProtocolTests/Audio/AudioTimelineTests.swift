import Testing
import Units

@testable import LinkProtocol

/// Stamps against counts, over simulated hours (SYNC-2, SYNC-4, AUD-2).
@Suite("Audio timeline")
struct AudioTimelineTests {
  private static let tenMilliseconds = 10e-3

  @Test(
    "half an hour with every pair of clocks off by 300 ppm, stamps by 5 ms: no sample is 10 ms off, from the first on (SYNC-2)",
    arguments: [-300.0, 0, 300], [-300.0, 0, 300])
  func halfAnHour(audioAgainstDevice: Double, deviceAgainstHost: Double) {
    let drift = ((1 + audioAgainstDevice * 1e-6) * (1 + deviceAgainstHost * 1e-6) - 1) * 1e6
    var bench = TimelineBench(drift: drift, jitter: 5e-3, seed: UInt64(bitPattern: Int64(drift)))
    bench.run(seconds: 1800)
    #expect(bench.worst < Self.tenMilliseconds, "\(bench.worst) at \(bench.worstTime)")
    #expect(bench.broken == 0 && bench.discontinuities == 0 && bench.missing == 0)
    // AUD-2: within a unit of 20 ms, far within.
    #expect(abs(Double(bench.delivered) - bench.seconds * 48_000) < 480)
    #expect(bench.largestCorrection <= 1000)
    // 200 ppm a second, and stamps that jitter by half a unit.
    #expect(bench.largestChange <= 6.1)
    let measured = bench.timeline.drift ?? .infinity
    #expect(abs(measured - drift) < 10, "\(measured)")
    // Drift that is known leaves nothing but noise.
    bench.forgetWorst()
    bench.run(seconds: 60)
    #expect(bench.worst < 6e-3)
  }

  @Test(
    "three hours, at each rate, with loss now and then: the error does not grow (SYNC-2)", arguments: [16_000, 44_100])
  func threeHours(rate: Int) {
    var bench = TimelineBench(drift: rate == 16_000 ? 590 : -590, jitter: 5e-3, rate: rate, seed: 9)
    bench.run(seconds: 60)
    bench.forgetWorst()
    var generator = SeededGenerator(seed: 4)
    var lostUnits = 0
    while bench.seconds < 3 * 3600 {
      let lost = Int.random(in: 0..<500, using: &generator) == 0 ? Int.random(in: 1...8, using: &generator) : 0
      bench.skip(frames: Double(lost * bench.unit))
      lostUnits += lost
      bench.step(lost: lost)
    }
    #expect(bench.worst < 6e-3, "\(bench.worst) at \(bench.worstTime)")
    #expect(bench.broken == 0)
    #expect(lostUnits > 2000 && bench.missing == lostUnits * bench.unit)
    #expect(abs(Double(bench.delivered + bench.missing) - bench.seconds * Double(rate)) < Double(bench.unit))
  }

  @Test("the first unit may be off by all its jitter, and the drift is not known: still no sample is 10 ms off")
  func start() {
    for drift in [-600.0, 600] {
      for first in [-5e-3, 5e-3] {
        var bench = TimelineBench(drift: drift, jitter: 0, seed: 2)
        bench.step(error: first)
        bench.jitter = 5e-3
        bench.run(seconds: 120)
        #expect(bench.worst < Self.tenMilliseconds, "\(bench.worst) at \(bench.worstTime)")
      }
    }
  }

  @Test("below 20 ppm and 5 ms samples are left alone, for hours", arguments: [0.0, -0.4, 0.4])
  func exact(drift: Double) {
    for jitter in [0, 5e-3] {
      var bench = TimelineBench(drift: drift, jitter: jitter, seed: 3)
      bench.run(seconds: 1800)
      #expect(bench.correctedUnits == 0 && bench.discontinuities == 0)
      #expect(bench.delivered >= 1800 * 48_000 && bench.delivered % bench.unit == 0)
    }
  }

  @Test(
    "a drift below 20 ppm is let go on until 5 ms are lost, which are then worked off, and samples left alone again")
  func smallDrift() {
    var bench = TimelineBench(drift: 15, jitter: 0)
    bench.run(seconds: 330)
    #expect(bench.correctedUnits == 0 && bench.worst > 4.9e-3)
    bench.run(seconds: 120)
    #expect(bench.correctedUnits > 0)
    bench.forgetWorst()
    bench.run(seconds: 200)
    #expect(bench.correctedUnits == 0 && bench.worst < 5e-3)
  }

  @Test("a correction ends when the drift does")
  func ends() {
    var rate = RateCorrection()
    var line = DriftLine()
    func hold(_ slope: Double, from begin: Double, for seconds: Double) {
      for step in 0..<Int(seconds * 50) {
        let x = begin + Double(step) / 50
        line.add(x: x, y: slope * x)
        rate.look(line, offset: 0, elapsed: 0.02)
      }
    }
    hold(100e-6, from: 0, for: 60)
    #expect(abs(rate.value - 100) < 2)
    line.restart()
    hold(0, from: 60, for: 300)
    #expect(rate.value == 0)
  }

  @Test("units lost are declared missing to the frame, whatever the jitter; the drift stays known (SYNC-4, AUD-2)")
  func lost() {
    var bench = TimelineBench(drift: 300, jitter: 5e-3, seed: 8)
    bench.run(seconds: 60)
    let correction = bench.timeline.drift
    for count in [1, 2, 5, 20, 1] {
      let before = bench.missing
      bench.skip(frames: Double(count * bench.unit))
      bench.step(lost: count)
      #expect(bench.missing - before == count * bench.unit)
      bench.run(seconds: 2)
    }
    #expect(bench.discontinuities == 5 && bench.broken == 0)
    #expect(bench.worst < Self.tenMilliseconds)
    #expect(abs((bench.timeline.drift ?? 0) - (correction ?? 0)) < 10)
  }

  @Test("a pause is declared missing; sound after it is in its place at once, and the drift is known (SYNC-4)")
  func pause() {
    for pause in [0.3, 7.77, 3600] {
      var bench = TimelineBench(drift: -400, jitter: 4e-3, seed: 6)
      bench.run(seconds: 60)
      bench.skip(frames: pause * 48_000)
      bench.forgetWorst()
      bench.step(isBreak: true)
      #expect(abs(Double(bench.missing) - pause * 48_000 * (1 + 400e-6)) < 0.012 * 48_000)
      bench.run(seconds: 60)
      #expect(bench.worst < Self.tenMilliseconds, "\(bench.worst)")
      #expect(bench.discontinuities == 1 && bench.broken == 0)
      #expect(abs((bench.timeline.drift ?? 0) + 400) < 15)
    }
  }

  @Test("a jump of 100 ms without a mark is a gap; a shorter one is worked off without a step (AUD-2)")
  func jumps() {
    var bench = TimelineBench(drift: 0, jitter: 2e-3)
    bench.run(seconds: 20)
    bench.skip(frames: 4800 + 480)
    bench.step()
    #expect(bench.discontinuities == 1 && abs(bench.missing - 5280) < 200)
    #expect(abs(bench.last) < 5e-3)
    let missing = bench.missing
    bench.skip(frames: 0.06 * 48_000)
    bench.run(seconds: 5)
    #expect(bench.missing == missing && bench.discontinuities == 1)
    #expect(bench.largestCorrection > 500 && bench.largestCorrection <= 1000)
    bench.run(seconds: 175)
    #expect(abs(bench.timeline.offset.seconds) < 2e-3 && bench.broken == 0)
  }

  @Test("stamps that jump back never take a stamp back: what overlaps is left out, or worked off")
  func back() {
    var bench = TimelineBench(drift: 0, jitter: 0)
    bench.run(seconds: 20)
    // 250 ms of samples too many: 12 units go whole, and half of one.
    for _ in 0..<13 { bench.step(error: -0.25) }
    #expect(bench.skipped == 12_000 && bench.broken == 0 && bench.missing == 0)
    #expect(abs(bench.last + 0.25) < 1e-6)
    // From then on the stamps stay where they are.
    for _ in 0..<500 { bench.step(error: -0.25) }
    #expect(bench.skipped == 12_000 && bench.discontinuities == 13 && bench.broken == 0)
    #expect(bench.correctedUnits == 0)
    // And forth again.
    bench.step()
    #expect(bench.missing == 12_000 && abs(bench.last) < 1e-6)
  }

  @Test("one stamp that is far off, but not by 100 ms, changes nothing")
  func outlier() {
    var bench = TimelineBench(drift: 0, jitter: 1e-3)
    bench.run(seconds: 20)
    for error in [0.09, -0.09, 0.05] {
      for _ in 0..<3 { bench.step(error: error) }
      bench.run(seconds: 5)
    }
    #expect(bench.correctedUnits == 0 && bench.discontinuities == 0 && bench.worst < 2e-3)
  }

  @Test("a mark of the sender is a discontinuity, also where nothing is missing")
  func marked() {
    var bench = TimelineBench(drift: 0, jitter: 0)
    bench.run(seconds: 1)
    bench.step(isBreak: true)
    #expect(bench.discontinuities == 1 && bench.missing == 0)
    // Lost units of which the stamps know nothing were another stream's.
    bench.step(lost: 3)
    #expect(bench.discontinuities == 1 && bench.missing == 0)
    bench.skip(frames: 1200)
    bench.step(isBreak: true)
    #expect(bench.discontinuities == 2 && bench.missing == 1200)
  }

  @Test("bursts of loss for half an hour: delivered and missing make up the time (AUD-2)")
  func bursts() {
    var bench = TimelineBench(drift: 250, jitter: 5e-3, seed: 12)
    var generator = SeededGenerator(seed: 12)
    while bench.seconds < 1800 {
      let isLoss = Int.random(in: 0..<20, using: &generator) == 0
      let lost = isLoss ? Int.random(in: 1...60, using: &generator) : 0
      bench.skip(frames: Double(lost * bench.unit))
      // Some are the sender's drops, whose number nobody tells.
      let isMarked = isLoss && Bool.random(using: &generator)
      bench.step(lost: isMarked ? 0 : lost, isBreak: isMarked)
    }
    #expect(bench.worst < 12e-3, "\(bench.worst) at \(bench.worstTime)")
    #expect(abs(Double(bench.delivered + bench.missing) - bench.seconds * 48_000) < 960)
    #expect(bench.broken == 0)
  }

  @Test("any stamps and counts give bounded answers, and stamps that don't fall")
  func anything() {
    var generator = SeededGenerator(seed: 77)
    for rate in [0, 1, 8000, 192_000, Int.max] {
      var timeline = AudioTimeline(sampleRate: rate)
      var last = Instant.distantPast
      for _ in 0..<2000 {
        let start = Instant(
          nanoseconds: [Int64.min, .max, 0, Int64.random(in: .min ... .max, using: &generator)]
            .randomElement(using: &generator) ?? 0)
        let frames = [0, -1, 960, Int.max, Int.min].randomElement(using: &generator) ?? 0
        let lost = [0, 1, -1, Int.max].randomElement(using: &generator) ?? 0
        let placement = timeline.place(start, frames: frames, lost: lost, isBreak: Bool.random(using: &generator))
        #expect(placement.missing >= 0 && placement.skip >= 0 && placement.skip <= max(0, frames))
        #expect(abs(placement.correction) <= 1000)
        #expect(placement.start >= last)
        last = placement.start
        timeline.delivered(
          frames: frames, held: .nanoseconds([0, Int64.max, Int64.min].randomElement(using: &generator) ?? 0))
      }
    }
  }
}
