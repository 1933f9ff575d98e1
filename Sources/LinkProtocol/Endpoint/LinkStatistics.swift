import Units

/// What a link side has counted since it opened. A snapshot; all counters only grow.
package struct LinkStatistics: Hashable, Sendable {
  package struct Traffic: Hashable, Sendable {
    package var units: UInt64 = 0
    /// Chunk headers included.
    package var bytes: UInt64 = 0
    package init() {}
  }

  /// By channel, in the order of `Channel.allCases`.
  package internal(set) var sent = [Traffic](repeating: Traffic(), count: Channel.allCases.count)
  package internal(set) var received = [Traffic](repeating: Traffic(), count: Channel.allCases.count)
  /// Units that never arrived whole, by channel; of audio also those that came and can't be used.
  package internal(set) var lost = [UInt64](repeating: 0, count: Channel.allCases.count)
  /// Bytes that arrived again after they had arrived once.
  package internal(set) var repeatedBytes: UInt64 = 0
  /// Messages and units that only a newer minor version understands.
  package internal(set) var skippedUnits: UInt64 = 0
  /// Video units that this side's queue dropped, and how often it ran over.
  package internal(set) var droppedVideoUnits: UInt64 = 0
  package internal(set) var videoOverflows: UInt64 = 0
  /// Audio units that this side's queue dropped.
  package internal(set) var droppedAudioUnits: UInt64 = 0
  /// Audio units that arrived whole and are not what they say. They count as lost, too.
  package internal(set) var unusableAudioUnits: UInt64 = 0
  /// Audio units that wait now, and their bytes.
  package internal(set) var queuedAudioUnits = 0
  package internal(set) var queuedAudioBytes = 0
  /// Video units that wait now, their bytes, and the age of the oldest at the last input.
  package internal(set) var queuedVideoUnits = 0
  package internal(set) var queuedVideoBytes = 0
  package internal(set) var queuedVideoAge: Duration = .zero
  /// Capture times that were moved by more than a millisecond so that they increase and are not after arrival.
  package internal(set) var repairedStamps: UInt64 = 0
  /// Round-trip time of the last clock exchange and the least of the recent ones; nil before the first.
  package internal(set) var roundTrip: Duration?
  package internal(set) var leastRoundTrip: Duration?
  /// The peer's clock against this one, as estimated: parts per million.
  package internal(set) var clockDrift: Double = 0
  /// Times that the alignment jumped ahead, because the peer's clock had stood still.
  package internal(set) var clockRealignments: UInt64 = 0

  package init() {}

  package func sent(_ channel: Channel) -> Traffic { sent[Int(channel.rawValue)] }
  package func received(_ channel: Channel) -> Traffic { received[Int(channel.rawValue)] }
  package func lost(_ channel: Channel) -> UInt64 { lost[Int(channel.rawValue)] }
}
