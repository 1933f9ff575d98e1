import Units

/// Where the glasses' clock stands against this one, from timed exchanges (RFC 5905, section 8).
///
/// An exchange tells the offset up to half of what its round trip took beyond the shortest one, so the samples with the
/// least round trip decide. The mapping that results is a line that bends: it runs at the estimated rate of the
/// glasses' clock and slews towards a better estimate, at a rate that stays within 500 ppm of one. It never steps back,
/// and steps ahead only on a realignment: when the glasses' clock has stood still or jumped (`realignments`).
///
/// Only differences to the first sample are computed with, so the clocks' origins may lie anywhere.
package struct ClockAlignment: Sendable {
  /// Rate that the mapping never leaves, drift and slew together.
  package static let rateLimit = 500e-6
  /// Samples kept: about a minute of periodic exchanges.
  static let windowLength = 64
  /// Least time between two samples that a drift is read from: 20 µs of jitter at either end are then 8 ppm.
  private static let driftSpan: Int64 = 5_000_000_000
  /// A drift less certain than this is not used.
  private static let driftUncertainty = 100e-6
  /// How fast an old sample loses worth, with and without a known drift.
  private static let agingKnown = 20e-6
  private static let agingUnknown = 300e-6
  /// A sample this far beyond its own uncertainty contradicts the others; three in a row replace them.
  private static let contradiction: Int64 = 50_000_000
  private static let contradictionCount = 3
  /// Round trips above this tell nothing.
  private static let roundTripLimit: Int64 = 10_000_000_000
  /// Bends that are remembered, for stamps from before the last one.
  private static let segmentLimit = 16

  /// One exchange, relative to the base: when on the glasses' clock (middle of their two stamps), and how much further
  /// the host's clock had run since the base.
  private struct Sample: Sendable {
    let device: Int64
    let excess: Int64
    let roundTrip: Int64
  }

  /// From a moment of the glasses on, until the next segment.
  private struct Segment: Sendable {
    let device: DeviceTime
    let host: Instant
    /// Host seconds per device second, less one.
    let rate: Double

    func host(at time: DeviceTime) -> Instant {
      let elapsed = (time - device).nanoseconds
      return host + .nanoseconds(elapsed.addingSaturating(Int64(saturating: Double(elapsed) * rate)))
    }
  }

  private var base: (device: DeviceTime, host: Instant)?
  private var samples: [Sample] = []
  private var contradictions: [(device: DeviceTime, host: Instant, roundTrip: Int64)] = []
  private var segments: [Segment] = []
  private var isDriftKnown = false
  /// Whether the mapping has been used, and so may bend but not step.
  private var isInUse = false

  /// Host seconds per device second, less one.
  package private(set) var drift: Double = 0
  package private(set) var realignments: UInt64 = 0
  /// By how much the last realignment moved the mapping: positive when times are mapped to later ones than before.
  package private(set) var lastRealignment: Duration = .zero
  package private(set) var lastRoundTrip: Duration?

  package init() {}

  package var leastRoundTrip: Duration? { samples.map(\.roundTrip).min().map { .nanoseconds($0) } }

  /// Takes one exchange in.
  ///
  /// - Parameters:
  ///   - originated, arrived: this host's clock when the request left and the reply came.
  ///   - received, transmitted: the glasses' clock when the request came and the reply left.
  package mutating func add(
    originated: Instant, received: DeviceTime, transmitted: DeviceTime, arrived: Instant
  ) {
    let there = (arrived - originated).nanoseconds
    let inside = (transmitted - received).nanoseconds
    // At equal stamps the two clocks' rates may make the inside a little longer than the whole.
    guard there >= 0, inside >= 0, there <= Self.roundTripLimit, inside <= there + there / 1000 + 1000 else { return }
    let roundTrip = max(0, there - inside)
    lastRoundTrip = .nanoseconds(roundTrip)
    let host = originated + .nanoseconds(there / 2)
    let device = received + .nanoseconds(inside / 2)

    if contradicts(device: device, host: host, roundTrip: roundTrip) {
      contradictions.append((device, host, roundTrip))
      guard contradictions.count >= Self.contradictionCount else { return }
      let before = mapped(transmitted)
      restart()
      estimateDrift()
      bend(at: transmitted + .nanoseconds(roundTrip / 2))
      realignments += 1
      if let before, let after = mapped(transmitted) { lastRealignment = after - before }
      return
    } else {
      contradictions.removeAll()
      append(device: device, host: host, roundTrip: roundTrip)
    }
    estimateDrift()
    bend(at: transmitted + .nanoseconds(roundTrip / 2))
  }

  /// A capture time on this host's clock. Before the first exchange, the first time asked for counts as having
  /// happened at `arrived`.
  package mutating func hostTime(of time: DeviceTime, arrived: Instant) -> Instant {
    isInUse = true
    if segments.isEmpty { segments = [Segment(device: time, host: arrived, rate: 0)] }
    return mapped(time) ?? arrived
  }

  /// Nil while there is no mapping.
  private func mapped(_ time: DeviceTime) -> Instant? {
    (segments.last(where: { $0.device <= time }) ?? segments.first)?.host(at: time)
  }

  // MARK: - Samples

  private mutating func append(device: DeviceTime, host: Instant, roundTrip: Int64) {
    let base = base ?? (device, host)
    self.base = base
    let elapsed = (device - base.device).nanoseconds
    let excess = (host - base.host).nanoseconds.subtractingSaturating(elapsed)
    samples.append(Sample(device: elapsed, excess: excess, roundTrip: roundTrip))
    if samples.count > Self.windowLength { samples.removeFirst() }
  }

  private func contradicts(device: DeviceTime, host: Instant, roundTrip: Int64) -> Bool {
    guard let base, let predicted = target(at: device) else { return false }
    let elapsed = (device - base.device).nanoseconds
    let excess = (host - base.host).nanoseconds.subtractingSaturating(elapsed)
    let difference = excess.subtractingSaturating(predicted)
    return difference.magnitude > UInt64((roundTrip / 2 + Self.contradiction).magnitude)
  }

  /// The samples so far are of a clock that is no more; those that contradicted them take their place.
  private mutating func restart() {
    let fresh = contradictions
    contradictions.removeAll()
    samples.removeAll()
    base = nil
    isDriftKnown = false
    for sample in fresh { append(device: sample.device, host: sample.host, roundTrip: sample.roundTrip) }
    segments.removeAll()
  }

  // MARK: - Estimates

  private func uncertainty(_ sample: Sample, least: Int64) -> Int64 { (sample.roundTrip - least) / 2 }

  /// Least certain of all is a sample from long ago or after a long way.
  private func target(at device: DeviceTime) -> Int64? {
    guard let base, let least = samples.map(\.roundTrip).min() else { return nil }
    let now = (device - base.device).nanoseconds
    let aging = isDriftKnown ? Self.agingKnown : Self.agingUnknown
    func worth(_ sample: Sample) -> Double {
      Double(uncertainty(sample, least: least)) + Double(now.subtractingSaturating(sample.device)) * aging
    }
    guard let best = samples.min(by: { worth($0) < worth($1) }) else { return nil }
    let age = Double(now.subtractingSaturating(best.device))
    return best.excess.addingSaturating(Int64(saturating: age * drift))
  }

  /// The drift is the slope between the most certain sample of the older half and that of the newer.
  private mutating func estimateDrift() {
    guard let first = samples.first, let last = samples.last, let least = samples.map(\.roundTrip).min() else { return }
    let middle = first.device + (last.device - first.device) / 2
    func best(_ half: [Sample]) -> Sample? { half.min { $0.roundTrip < $1.roundTrip } }
    guard let old = best(samples.filter { $0.device <= middle }), let new = best(samples.filter { $0.device > middle })
    else { return }
    let span = new.device - old.device
    guard span >= Self.driftSpan else { return }
    let doubt = Double(uncertainty(old, least: least) + uncertainty(new, least: least)) / Double(span)
    guard doubt < Self.driftUncertainty else { return }
    let slope = Double(new.excess - old.excess) / Double(span)
    drift = max(-Self.rateLimit, min(Self.rateLimit, slope))
    isDriftKnown = true
  }

  // MARK: - The mapping

  /// Bends the mapping towards the best estimate, from this moment of the glasses on.
  private mutating func bend(at device: DeviceTime) {
    guard let base, let excess = target(at: device) else { return }
    let goal = base.host + .nanoseconds((device - base.device).nanoseconds.addingSaturating(excess))
    // Before the first exchange the mapping was a guess, which needs no loyalty.
    let isFirst = samples.count == 1
    guard isInUse, !isFirst, let last = segments.last(where: { $0.device < device }) ?? segments.first else {
      segments = [Segment(device: device, host: goal, rate: drift)]
      return
    }
    // What was planned for later is planned anew.
    segments.removeAll { $0.device >= device }
    let here = last.host(at: device)
    let error = (goal - here).nanoseconds
    let rate = error == 0 ? drift : error > 0 ? Self.rateLimit : -Self.rateLimit
    segments.append(Segment(device: device, host: here, rate: rate))
    // A whole correction within one interval at most: then the line goes on at the clock's own rate.
    let relative = abs(rate - drift)
    if error != 0, relative > 0 {
      let duration = Int64(saturating: Double(error.magnitude) / relative)
      let turn = device + .nanoseconds(duration)
      let host = Segment(device: device, host: here, rate: rate).host(at: turn)
      segments.append(Segment(device: turn, host: host, rate: drift))
    }
    if segments.count > Self.segmentLimit { segments.removeFirst(segments.count - Self.segmentLimit) }
  }
}
