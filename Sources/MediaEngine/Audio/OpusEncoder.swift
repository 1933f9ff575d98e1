import Synchronization
import Units

/// Encodes sound into Opus packets (RFC 6716) of 20 ms, for low delay: no packet waits for sound behind its own.
///
/// Any thread; calls take turns.
package final class OpusEncoder: Sendable {
  /// Opus runs at 48 kHz, whatever the bandwidth of the sound.
  package static let sampleRate = 48_000
  /// Frames of a packet: 20 ms.
  package static let packetFrames = 960

  package let format: PCMFormat
  /// Frames by which decoded sound comes late: sample k that went in is sample `lookahead` + k that comes out.
  package let lookahead: Int

  /// The form in which sound of another form is encoded: at 48 kHz.
  package static func format(for format: PCMFormat) -> PCMFormat {
    PCMFormat(sampleRate: sampleRate, channels: format.channels)
  }

  /// - Parameter format: of 48 kHz, with one or two channels.
  ///
  /// Throws `.audioFormatNotSupported`, `.codecNotSupported`, `.outOfMemory`.
  package init(_ format: PCMFormat, bitrate: Bitrate) throws(MediaError) {
    self.format = format
    lookahead = 0
  }

  /// One packet of up to 20 ms of interleaved samples; silence fills what is missing.
  ///
  /// Throws `.malformedData` for more than that.
  package func encode(_ samples: [Float]) throws(MediaError) -> [UInt8] { [] }
}

/// Decodes Opus packets (RFC 6716), one after the other, at 48 kHz.
///
/// What a lost packet had in it is for the caller to know; the packets after it need no more than a few to sound right.
/// Any thread; calls take turns.
package final class OpusDecoder: Sendable {
  package let format: PCMFormat

  /// - Parameter format: of 48 kHz, with one or two channels; packets of the other number are mixed.
  ///
  /// Throws `.audioFormatNotSupported`, `.codecNotSupported`, `.outOfMemory`.
  package init(_ format: PCMFormat) throws(MediaError) { self.format = format }

  /// All frames of the packet, interleaved. Throws `.damagedSound`; the decoder is usable after it.
  package func decode(_ packet: [UInt8]) throws(MediaError) -> [Float] { [] }

  /// Forgets what came before; for packets after a gap.
  package func reset() {}
}
