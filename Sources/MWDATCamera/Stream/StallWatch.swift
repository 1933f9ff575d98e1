import LinkProtocol
import LinkTransport
import Units

/// What a stream must remember to notice that pictures stop coming, and whether the link still answers then.
struct StallWatch: Sendable {
  /// Between two looks during a stall. An idle link asks its peer for a sign of life after a second, and the clocks are
  /// compared each second: within this a live one has always had something.
  static let linkLook: Duration = .milliseconds(1500)

  /// An interval beyond this is not waited for thrice.
  private static let longestInterval: Duration = .seconds(2)

  /// When the last picture came: a unit through the loss gate or, where listeners want decoded ones, a decoded one.
  private(set) var lastUnit = Instant.distantPast
  /// When the next look is, if one is planned. One that was planned for another time is none.
  var nextLook: Instant?
  /// What the link had received at the last look.
  private var bytesSeen: UInt64 = 0

  /// Another attempt begins.
  mutating func restart() { lastUnit = .distantPast }

  mutating func passed(at now: Instant) { lastUnit = now }

  /// How long a gap may be: `limit`, or three frame intervals where that is more. The interval is the agreed one, or the
  /// source's own where that is slower.
  static func patience(limit: Duration, frameRate: UInt8, source: Duration) -> Duration {
    let agreed: Duration = .seconds(1) / Int(max(1, frameRate))
    return max(limit, max(agreed, min(longestInterval, source)) * 3)
  }

  /// True when anything came since it was last called.
  @discardableResult
  mutating func noteReceived(_ statistics: LinkStatistics) -> Bool {
    let bytes = statistics.received.reduce(0 as UInt64) { $0.addingSaturating($1.bytes) }
    defer { bytesSeen = bytes }
    return bytes > bytesSeen
  }
}
