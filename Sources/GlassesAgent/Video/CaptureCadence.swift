/// Chooses which of a source's pictures are taken, so that their number is that of the requested rate, or of the
/// source's where that is lower.
///
/// Each picture taken moves a deadline on by one interval of the requested rate, whatever the picture's own time; the
/// next to be taken is the first that is due no more than half a source interval before the deadline. So there is
/// neither drift nor aliasing (a source at 25 asked for 24 gives 24, not 12.5), and no gap is longer than two intervals.
/// A source no faster than the request is taken whole, however uneven its pictures come, as long as the deadlines are
/// kept on average. What the source left out is made up for by one interval at most.
///
/// A value; times are since the source began and rise.
package struct CaptureCadence: Sendable {
  /// Up to here a source counts as "no faster than the request": 29.97 and 30 are the same rate.
  private static let sameRate = 1.02
  /// In intervals of the request. Covers pictures that jitter by a quarter of an interval either way.
  private static let toleranceOfSlowSource = 0.75

  private let interval: Duration
  private let tolerance: Duration
  private var deadline: Duration?
  private var lastTaken: Duration?

  /// - Parameters:
  ///   - requested: pictures a second asked for.
  ///   - source: pictures a second that the source has, on average.
  package init(requested: Double, source: Double) {
    let requested = requested.isFinite ? min(max(requested, 0.1), 240) : 30
    let source = source.isFinite ? min(max(source, 0.1), 1000) : requested
    interval = .seconds(1 / requested)
    if source <= requested * Self.sameRate {
      tolerance = .seconds(Self.toleranceOfSlowSource / requested)
    } else {
      tolerance = .seconds(0.5 / source)
    }
  }

  /// The first picture due at this time or later is the next to take.
  package var earliest: Duration {
    guard let deadline, let lastTaken else { return .zero }
    return max(deadline - tolerance, lastTaken + .nanoseconds(1))
  }

  /// A picture that was due then has been taken.
  package mutating func took(_ time: Duration) {
    let kept = deadline ?? time
    deadline = max(kept, time - interval) + interval
    lastTaken = time
  }
}
