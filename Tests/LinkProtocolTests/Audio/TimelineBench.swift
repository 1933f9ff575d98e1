import Units

@testable import LinkProtocol

/// A microphone whose clock is off, stamps that jitter, a resampler that holds some samples back, and a timeline between
/// them. For each block that is delivered it knows when its first frame was really taken.
struct TimelineBench {
  let rate: Int
  let unit: Int
  /// How much faster the samples' clock runs than the host's, parts per million.
  let drift: Double
  /// Largest error of a stamp, in seconds.
  var jitter: Double
  var timeline: AudioTimeline
  private var generator: SeededGenerator

  /// Frames that the microphone has taken and that came.
  private(set) var taken = 0.0
  /// Frames that did not: the microphone did not run, or they were lost.
  private var holes = 0.0
  /// Up to where fewer of them were missing, and how many.
  private var before = (frame: 0.0, holes: 0.0)
  /// Of the taken frames, up to where they were delivered or put into the resampler.
  private var fed = 0.0
  private var deliveredUpTo = 0.0

  // MARK: What was found

  private(set) var worst = 0.0
  private(set) var worstTime = 0.0
  private(set) var last = 0.0
  private(set) var largestCorrection = 0.0
  private(set) var largestChange = 0.0
  private(set) var correctedUnits = 0
  private(set) var delivered = 0
  private(set) var missing = 0
  private(set) var skipped = 0
  private(set) var discontinuities = 0
  /// Blocks whose stamp was not that of the block before and what followed from it.
  private(set) var broken = 0
  private var correction = 0.0
  private var expected: Instant?

  init(drift: Double, jitter: Double, rate: Int = 48_000, seed: UInt64 = 1) {
    self.rate = rate
    self.drift = drift
    self.jitter = jitter
    unit = rate / 50
    timeline = AudioTimeline(sampleRate: rate)
    generator = SeededGenerator(seed: seed)
  }

  /// Host seconds at which a frame was taken.
  private func time(_ frame: Double) -> Double { frame / (Double(rate) * (1 + drift * 1e-6)) }

  var seconds: Double { time(taken + holes) }

  mutating func run(seconds: Double) {
    let end = self.seconds + seconds
    while self.seconds < end { step() }
  }

  /// The microphone does not run, or its units are lost on the way.
  mutating func skip(frames: Double) {
    if before.frame < taken { before = (taken, holes) }
    holes += frames
  }

  /// - Parameters:
  ///   - error: of the stamp, besides the jitter.
  mutating func step(lost: Int = 0, isBreak: Bool = false, error: Double = 0) {
    let begin = taken
    let noise = jitter > 0 ? Double.random(in: -jitter...jitter, using: &generator) : 0
    let stamp = Instant(nanoseconds: Int64(saturating: (1000 + time(begin + holes) + noise + error) * 1e9))
    if timeline.breaks(at: stamp, lost: lost, isBreak: isBreak) { flush() }
    let placement = timeline.place(stamp, frames: unit, lost: lost, isBreak: isBreak)
    note(placement)
    if placement.isDiscontinuity { (fed, deliveredUpTo) = (begin, begin) }
    deliveredUpTo += Double(placement.skip)
    measure(placement)
    fed = begin + Double(unit)
    let holds = placement.correction == 0 ? 0.0 : 16
    let stretch = 1 + placement.correction * 1e-6
    deliver(max(0, Int(((fed - holds - deliveredUpTo) * stretch).rounded(.down))), stretch)
    taken += Double(unit)
  }

  private mutating func flush() { deliver(Int((fed - deliveredUpTo).rounded()), 1) }

  private mutating func deliver(_ frames: Int, _ stretch: Double) {
    delivered += frames
    deliveredUpTo += Double(frames) / stretch
    timeline.delivered(
      frames: frames, held: .nanoseconds(Int64(saturating: (fed - deliveredUpTo) / Double(rate) * 1e9)))
    expected = timeline.next
  }

  private mutating func note(_ placement: AudioTimeline.Placement) {
    if let expected {
      let gap = Double(placement.missing) / Double(rate)
      let off = (placement.start - expected).seconds - gap
      if abs(off) > 1e-9 * 2 || placement.start < expected { broken += 1 }
    }
    missing = missing.addingSaturating(placement.missing)
    skipped += placement.skip
    if placement.isDiscontinuity { discontinuities += 1 }
    if placement.correction != 0 { correctedUnits += 1 }
    largestCorrection = max(largestCorrection, abs(placement.correction))
    largestChange = max(largestChange, abs(placement.correction - correction))
    correction = placement.correction
  }

  private mutating func measure(_ placement: AudioTimeline.Placement) {
    last =
      Double(placement.start.nanoseconds) / 1e9 - 1000
      - time(deliveredUpTo + (deliveredUpTo < before.frame ? before.holes : holes))
    guard abs(last) > worst else { return }
    worst = abs(last)
    worstTime = seconds
  }

  mutating func forgetWorst() { (worst, worstTime, correctedUnits, largestCorrection) = (0, 0, 0, 0) }
}
