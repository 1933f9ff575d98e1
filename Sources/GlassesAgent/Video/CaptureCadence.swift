/// Chooses which of a source's pictures are taken, so that their number is that of the requested rate, or of the
/// source's where that is lower.
///
/// Each picture taken moves a deadline on by one interval of the requested rate, whatever the picture's own time; the
/// next to be taken is the one nearest to the deadline. So there is neither drift nor aliasing: a source at 25 asked for
/// 24 gives 24, not 12.5. Since the last one taken was the nearest to its deadline too, one that is left out for its
/// successor has it within two intervals of the last taken: no gap is longer than that unless the source's own is, however
/// its pictures jitter, and a source asked for more than it has is taken whole. What a source owes after a pause is made
/// up for by one interval at most.
///
/// The rate that a source states doesn't come into it, since files state wrong ones.
///
/// A value; times are since the source began and rise.
package struct CaptureCadence: Sendable {
  private var interval: Duration
  private var deadline: Duration?
  private var lastTaken: Duration?

  /// - Parameter requested: pictures a second asked for.
  package init(requested: Double) { interval = Self.interval(of: requested) }

  /// Goes on at another rate: the next picture is due one interval of the new rate after the last.
  package mutating func change(requested: Double) {
    interval = Self.interval(of: requested)
    deadline = lastTaken.map { $0 + interval }
  }

  private static func interval(of requested: Double) -> Duration {
    .seconds(1 / (requested.isFinite ? min(max(requested, 0.1), 240) : 30))
  }

  /// The first picture due at this time or later is the next to look at.
  package var earliest: Duration { lastTaken.map { $0 + .nanoseconds(1) } ?? .zero }

  /// Whether to take a picture that is due at `time`, the next one being due at `following`.
  package func takes(_ time: Duration, before following: Duration) -> Bool {
    guard let deadline else { return true }
    return time + following >= deadline * 2
  }

  /// A picture that was due then has been taken.
  package mutating func took(_ time: Duration) {
    let kept = deadline ?? time
    deadline = max(kept, time - interval) + interval
    lastTaken = time
  }

  /// When the next picture to be taken is due. The source is asked for times alone, up to that of the picture after it.
  func next(of source: any VideoSource) throws(SourceError) -> Duration {
    var time = try source.nextPictureTime(from: earliest)
    while true {
      let following = try source.nextPictureTime(from: time + .nanoseconds(1))
      // The second: a source whose times don't rise as they must is not to be waited for.
      if takes(time, before: following) || following <= time { return time }
      time = following
    }
  }
}
