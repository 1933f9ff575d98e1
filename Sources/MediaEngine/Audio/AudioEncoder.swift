import Synchronization
import Units

/// Encodes sound for a file. Any thread; calls take turns.
package final class AudioEncoder: Sendable {
  /// How sound is kept in a file.
  package enum Codec: String, Hashable, Sendable, CaseIterable {
    /// AAC-LC (ISO/IEC 14496-3).
    case aac
    /// RFC 6716.
    case opus
    /// Without loss (RFC 9639), with 24 bits of each sample.
    case flac
    /// 16-bit integers.
    case pcm16
    /// 32-bit floating point, as it came.
    case pcmFloat
  }

  /// Coded sound. Packets follow each other in the order of their stamps.
  package struct EncodedPacket: Hashable, Sendable {
    package var bytes: [UInt8]
    /// The frame with which its sound begins, counted from the first that went in; negative for what a decoder leaves out.
    package var start: Int
    package var frames: Int
  }

  package let codec: Codec
  /// Of what goes in.
  package let input: PCMFormat
  /// Of what is in the file; the rate differs from the input's where the codec does not know that one.
  package let output: PCMFormat
  /// Frames that a packet holds; 0 where each holds as many as came.
  package let packetFrames: Int
  /// Output frames that a decoder yields before the first that went in.
  package let priming: Int
  /// What a decoder has to know, as FFmpeg lays it out.
  package let configuration: [UInt8]

  package init(_ codec: Codec, _ format: PCMFormat, bitrate: Bitrate? = nil) throws(MediaError) {
    throw MediaError(.audioFormatNotSupported, while: .opening)
  }

  /// Packets that are ready. `EncodedPacket.start` counts output frames.
  package func encode(_ samples: [Float]) throws(MediaError) -> [EncodedPacket] { [] }

  /// The rest. The last use.
  package func finish() throws(MediaError) -> [EncodedPacket] { [] }
}
