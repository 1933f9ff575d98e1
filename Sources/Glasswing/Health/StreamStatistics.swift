/// Figures of a stream at one moment. Counts run from the stream's making over all its starts; rates are of the last
/// second, ages of the present attempt.
public struct StreamStatistics: Codable, Hashable, Sendable {
  /// What did not reach a listener, by cause.
  public struct Drops: Codable, Hashable, Sendable {
    /// Units lost on the link.
    public let lost: UInt64
    /// Units withheld because something they depend on was lost.
    public let withheld: UInt64
    /// Units that came for an attempt that is over, or while the session was paused.
    public let stale: UInt64
    /// Units that the decoder had no time for.
    public let decoderBehind: UInt64
    /// Units that the decoder refused.
    public let undecodable: UInt64
    /// Frames that listeners were too slow for, summed over listeners.
    public let listeners: UInt64

    /// All of them.
    public var total: UInt64 { lost &+ withheld &+ stale &+ decoderBehind &+ undecodable &+ listeners }
  }

  /// A time without pictures, or without sound where it was asked for, while streaming.
  public struct Stall: Codable, Hashable, Sendable {
    /// When the last picture or sound before it came, in nanoseconds on the host's monotonic clock.
    public let startHostNanoseconds: Int64
    /// From then to the next, or to the stream's pause or end.
    public let length: Duration
    /// False while it goes on.
    public let isOver: Bool
  }

  /// Frames handed to listeners, each counted once however many listen.
  public let frames: UInt64
  /// Compressed pictures (access units) that arrived, and their bytes.
  public let units: UInt64
  /// Bytes of these units.
  public let bytes: UInt64
  /// Frames in the last second.
  public let framesPerSecond: Double
  /// Units in the last second.
  public let unitsPerSecond: Double
  /// Bits in the last second.
  public let bitsPerSecond: Int64
  /// From capture to the hand-over to listeners: the median; nil before the first frame.
  public let ageP50: Duration?
  /// The same, 95th percentile.
  public let ageP95: Duration?
  /// From `start()` to the first frame of the present attempt; nil before it.
  public let firstFrame: Duration?
  /// What did not reach a listener.
  public let drops: Drops
  /// The same for sound; nil for a stream without.
  public let audio: AudioStatistics?
  /// How often something was found missing.
  public let gaps: UInt64
  /// How often pictures or sound stopped coming while streaming, the present stall included.
  public let stalls: UInt64
  /// The length of the stalls that are over.
  public let stalledTime: Duration
  /// The last 16 stalls, newest last; of one that goes on, the length so far.
  public let recentStalls: [Stall]
  /// Keyframes asked for, by whatever cause.
  public let keyframeRequests: UInt64
  /// Keyframes that arrived, asked for or not.
  public let keyframes: UInt64
  /// How often the stream was started.
  public let starts: UInt64
  /// How often an attempt ended by a failure.
  public let failures: UInt64
  /// What the last failures said, newest last; a few only.
  public let failureTexts: [String]
}

/// What app and glasses agreed on for a stream's pictures.
public struct NegotiatedVideo: Codable, Hashable, Sendable {
  /// Pixels across.
  public let width: Int
  /// Pixels down.
  public let height: Int
  /// Pictures a second, after snapping to what glasses offer.
  public let frameRate: Int
}
