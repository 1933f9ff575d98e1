import Units

/// A short run of sound as it travels on the audio channel: 20 ms, less for the last of a stream.
///
/// Each unit says what it is, so codec, rate and channels may change between two of them.
package struct AudioUnit: Hashable, Sendable {
  package struct Flags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Something before it is missing by the sender's decision. The same bit as in an access unit.
    package static let discontinuity = Flags(rawValue: 1 << 2)
    /// The unit's frames are the last of what its packet decodes to; those before are for the decoder's history.
    package static let history = Flags(rawValue: 1 << 3)
  }

  package var stream: StreamID
  package var flags: Flags
  package var codec: AudioCodecID
  /// Samples a second of each channel.
  package var sampleRate: UInt32
  package var channels: UInt8
  /// Samples of each channel that the unit is. Its packet may decode to more; they are the first of them.
  package var frames: UInt16
  /// When the first of those samples was taken. An encoder's look-ahead is taken off by the sender.
  package var captured: DeviceTime
  /// PCM: IEEE 754 binary32, little-endian, the channels of a frame side by side. Opus: one packet (RFC 6716, 3).
  package var payload: [UInt8]

  package init(
    stream: StreamID, flags: Flags = [], codec: AudioCodecID, sampleRate: UInt32, channels: UInt8, frames: UInt16,
    captured: DeviceTime, payload: [UInt8]
  ) {
    self.stream = stream
    self.flags = flags
    self.codec = codec
    self.sampleRate = sampleRate
    self.channels = channels
    self.frames = frames
    self.captured = captured
    self.payload = payload
  }
}

/// A unit of sound as it came out of the link.
package struct ReceivedAudio: Hashable, Sendable {
  package var unit: AudioUnit
  /// The unit's number on the audio channel.
  package var sequence: UInt32
  /// The capture time on this host's clock. Within a stream it strictly increases; it is never after `arrived`. Mapped
  /// by the same alignment as the stream's pictures.
  package var presentation: Instant
  /// When the unit was whole.
  package var arrived: Instant
  /// Units of the audio channel that are missing, or came and can't be used, since the unit of this stream before this
  /// one.
  package var lostBefore: Int

  package init(unit: AudioUnit, sequence: UInt32, presentation: Instant, arrived: Instant, lostBefore: Int) {
    self.unit = unit
    self.sequence = sequence
    self.presentation = presentation
    self.arrived = arrived
    self.lostBefore = lostBefore
  }
}
