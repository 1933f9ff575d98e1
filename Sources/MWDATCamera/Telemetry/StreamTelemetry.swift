import LinkProtocol
import Units

/// What a stream has counted since it was made, over all its attempts, and its rates of the last second. A snapshot.
package struct StreamTelemetry: Sendable {
  /// Why a unit or frame did not reach a listener.
  package struct Drops: Hashable, Sendable {
    /// Units that never arrived whole.
    package var lost: UInt64 = 0
    /// Units withheld because something they depend on is missing.
    package var withheld: UInt64 = 0
    /// Units of an older attempt, or that arrived while the session rested.
    package var stale: UInt64 = 0
    /// Units that waited for the decoder longer than its queue allows, or depended on such.
    package var decodeQueue: UInt64 = 0
    /// Units that the decoder refused.
    package var undecodable: UInt64 = 0
    /// Frames that listeners were too slow for, summed over listeners.
    package var listeners: UInt64 = 0
    package init() {}
  }

  /// A time without units, or without sound, while streaming.
  package struct Stall: Hashable, Sendable {
    /// When the last unit before it passed.
    package var began: Instant
    package var length: Duration
    package var isOver: Bool
  }

  /// Access units that arrived for the current attempt, and their bytes.
  package var units: UInt64 = 0
  package var bytes: UInt64 = 0
  /// Of these, sync units.
  package var syncUnits: UInt64 = 0
  /// Frames handed to listeners, each counted once however many listen.
  package var frames: UInt64 = 0
  /// Pictures that went through the decoder, delivered or not.
  package var decodedPictures: UInt64 = 0
  package var drops = Drops()
  /// Of the sound, where any was asked for.
  package var sound = AudioTelemetry()
  /// Times that something was found missing before a unit.
  package var gaps: UInt64 = 0
  package var keyframeRequests: UInt64 = 0
  /// How often the stream was started, and how often it failed.
  package var starts: UInt64 = 0
  package var failures: UInt64 = 0
  /// Times that units or sound stopped coming while streaming, and how long that lasted in all, the present one not counted.
  package var stalls: UInt64 = 0
  package var stalledTime: Duration = .zero
  /// The last of them, newest last; at most `Self.stallLimit`. Of the present one the length so far.
  package var recentStalls: [Stall] = []
  /// Over the last second before the snapshot.
  package var unitsPerSecond: Double = 0
  package var framesPerSecond: Double = 0
  package var bitrate = Bitrate.bitsPerSecond(0)
  /// From capture until the frame was handed to the listeners' lanes, over the current attempt.
  package var ages = AgeHistogram()
  /// From `start()` of the current attempt to its first frame or, with no listener, its first unit.
  package var firstFrame: Duration?
  /// What the glasses agreed to send, as last changed; nil before the first agreement.
  package var negotiatedVideo: VideoParameters?
  /// The last texts that came with failures, newest last; at most `Self.errorLimit`.
  package var errorTexts: [String] = []

  package static let errorLimit = 8
  package static let stallLimit = 16

  package init() {}
}
