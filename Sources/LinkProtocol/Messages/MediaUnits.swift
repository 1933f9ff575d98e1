import Units

/// One coded picture with all its NAL units (ITU-T H.265, 3.1: access unit), as it travels on the video channel.
package struct AccessUnit: Hashable, Sendable {
  package struct Flags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Decodable without anything before it (an IDR picture).
    package static let sync = Flags(rawValue: 1 << 0)
    /// The payload begins with the parameter sets (VPS, SPS, PPS; for H.264 SPS, PPS).
    package static let parameterSets = Flags(rawValue: 1 << 1)
    /// Something before it is missing by the sender's decision.
    package static let discontinuity = Flags(rawValue: 1 << 2)
  }

  package var stream: StreamID
  package var flags: Flags
  package var codec: VideoCodecID
  package var size: PixelSize
  package var captured: DeviceTime
  /// NAL units, each after its length in 4 bytes, big-endian (ISO/IEC 14496-15, 4.3.3). A sync unit begins with its
  /// parameter sets.
  package var payload: [UInt8]

  package init(
    stream: StreamID, flags: Flags, codec: VideoCodecID, size: PixelSize, captured: DeviceTime, payload: [UInt8]
  ) {
    self.stream = stream
    self.flags = flags
    self.codec = codec
    self.size = size
    self.captured = captured
    self.payload = payload
  }
}
