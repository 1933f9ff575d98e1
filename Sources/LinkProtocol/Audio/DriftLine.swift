/// The straight line through what is measured of two clocks against each other: how far apart they are now, and how fast
/// they part. Least squares with a memory that fades (`memory`), and with a first belief about the slope, so that few
/// points in a row don't tilt it.
///
/// Constant memory. Sums are kept about their means, so they stay exact over days.
struct DriftLine: Hashable, Sendable {
  /// How long a point counts, in seconds: long enough to average jitter of 5 ms down to 2 ppm, short enough to follow a
  /// quartz that warms up.
  private static let memory = 30.0
  /// Noise of a point that is assumed, in seconds, and the least that is believed of what was measured: the mapping of
  /// the glasses' clock itself moves by as much.
  private static let assumedNoise = 3e-3
  private static let leastNoise = 2e-4
  /// First belief: no drift, give or take 300 ppm; as the weight of points, seconds squared.
  private static let firstBelief = (assumedNoise / 300e-6) * (assumedNoise / 300e-6)
  /// What was learnt before a break counts for at most this much, 5 ppm, and fades as points do.
  private static let strongestBelief = (assumedNoise / 5e-6) * (assumedNoise / 5e-6)
  /// Seconds of points after which a slope counts as measured.
  private static let measuringTime = 10.0

  private var weight = 0.0
  private var meanX = 0.0
  private var meanY = 0.0
  private var sumXX = 0.0
  private var sumXY = 0.0
  private var sumYY = 0.0
  private var lastX = 0.0
  private var believedSlope = 0.0
  private var belief = Self.firstBelief
  /// Seconds from the first point on, gaps left out.
  private var observed = 0.0

  /// Points that count, fading ones in part.
  var points: Double { weight }

  /// Seconds per second.
  var slope: Double { (sumXY + belief * believedSlope) / (sumXX + belief) }

  /// Whether the slope was looked at for long enough.
  var isMeasured: Bool { observed >= Self.measuringTime }

  /// Standard error of the slope.
  var slopeError: Double {
    let noise = weight > 2 ? max(0, sumYY - slope * sumXY) / weight : 0
    return max(noise.squareRoot(), Self.leastNoise) / (sumXX + belief).squareRoot()
  }

  func value(at x: Double) -> Double { meanY + slope * (x - meanX) }

  /// Takes a point in; `x` never falls.
  mutating func add(x: Double, y: Double) {
    if weight > 0 {
      let step = max(0, x - lastX)
      if step > Self.memory / 2 { restart() } else { fade(by: 1 - step / Self.memory) }
      observed += min(step, 1)
    }
    lastX = x
    weight += 1
    let (fromX, fromY) = (x - meanX, y - meanY)
    meanX += fromX / weight
    meanY += fromY / weight
    sumXX += fromX * (x - meanX)
    sumXY += fromX * (y - meanY)
    sumYY += fromY * (y - meanY)
  }

  /// Moves the line without tilting it.
  mutating func shift(by step: Double) { meanY += step }

  /// Forgets where the line lay, but not how it was tilted.
  mutating func restart() {
    (believedSlope, belief) = (slope, min(sumXX + belief, Self.strongestBelief))
    (weight, meanX, meanY, sumXX, sumXY, sumYY) = (0, 0, 0, 0, 0, 0)
  }

  private mutating func fade(by factor: Double) {
    weight *= factor
    sumXX *= factor
    sumXY *= factor
    sumYY *= factor
    belief = max(Self.firstBelief, belief * factor)
  }
}
