import LinkProtocol
import LinkTransport
import Units

/// What a stream must remember to notice that units stop coming, and whether the link still answers then.
struct StallWatch: Sendable {
  /// When the last unit passed the loss gate.
  var lastUnit = Instant.distantPast
  /// A look is queued.
  var isWatching = false
  /// What the link had received at the last look.
  private var bytesSeen: UInt64 = 0
  /// When the last unit before the stall passed that was told of and is not over.
  private var toldSince: Instant?

  /// How long a gap may be: `limit`, or three frame intervals where that is more.
  static func patience(limit: Duration, frameRate: UInt8) -> Duration {
    max(limit, .seconds(3) / Int(max(1, frameRate)))
  }

  /// True when anything came since it was last called. An idle link asks its peer for a sign of life after a second, so
  /// that a live one has always had something in a second.
  @discardableResult
  mutating func noteReceived(_ statistics: LinkStatistics) -> Bool {
    let bytes = statistics.received.reduce(0 as UInt64) { $0.addingSaturating($1.bytes) }
    defer { bytesSeen = bytes }
    return bytes > bytesSeen
  }

  /// Since when nothing passes; nil when that was told of already.
  mutating func began() -> Instant? {
    guard toldSince == nil else { return nil }
    toldSince = lastUnit
    return lastUnit
  }

  /// The stall's length; nil when none was told of.
  mutating func ended(at now: Instant) -> Duration? {
    defer { toldSince = nil }
    return toldSince.map { now - $0 }
  }
}
