import CFFmpeg
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
  /// Frames by which decoded sound comes late: frame k that went in is frame `lookahead` + k that comes out.
  package let lookahead: Int
  private let context: Mutex<AudioEncoderContext>

  /// The form in which sound of another form is encoded: at 48 kHz.
  package static func format(for format: PCMFormat) -> PCMFormat {
    PCMFormat(sampleRate: sampleRate, channels: format.channels)
  }

  /// - Parameter format: of 48 kHz, with one or two channels.
  ///
  /// Throws `.audioFormatNotSupported`, `.codecNotSupported`, `.outOfMemory`.
  package init(_ format: PCMFormat, bitrate: Bitrate) throws(MediaError) {
    try format.checkForOpus()
    let context = try AudioEncoderContext(
      .opus, format, bitrate: bitrate,
      options: ["application": "lowdelay", "frame_duration": "20", "vbr": "constrained"])
    self.format = format
    lookahead = context.priming
    self.context = Mutex(context)
  }

  /// One packet of up to 20 ms of interleaved samples; silence fills what is missing.
  ///
  /// Throws `.malformedData` for more than that.
  package func encode(_ samples: [Float]) throws(MediaError) -> [UInt8] {
    let whole = Self.packetFrames * format.channels
    guard samples.count <= whole else {
      throw MediaError(.malformedData, while: .encoding, "\(samples.count / format.channels) frames for a packet")
    }
    return try context.withLock { context throws(MediaError) in
      try context.send(samples + [Float](repeating: 0, count: whole - samples.count))
      guard let packet = try context.receive() else {
        throw MediaError(.libraryFailure, while: .encoding, "the encoder holds a packet back")
      }
      return packet.bytes
    }
  }
}

/// Decodes Opus packets (RFC 6716), one after the other, at 48 kHz.
///
/// What a lost packet had in it is for the caller to know; the packets after it need no more than a few to sound right.
/// Any thread; calls take turns.
package final class OpusDecoder: Sendable {
  package let format: PCMFormat
  private let state: Mutex<OpusDecoderState>

  /// - Parameter format: of 48 kHz, with one or two channels; packets of the other number are mixed.
  ///
  /// Throws `.audioFormatNotSupported`, `.codecNotSupported`, `.outOfMemory`.
  package init(_ format: PCMFormat) throws(MediaError) {
    try format.checkForOpus()
    self.format = format
    state = Mutex(try OpusDecoderState(format))
  }

  /// All frames of the packet, interleaved. Throws `.damagedAudio`; the decoder goes on from the packet before.
  package func decode(_ packet: [UInt8]) throws(MediaError) -> [Float] {
    try state.withLock { state throws(MediaError) in try state.decode(packet) }
  }

  /// Forgets what came before; for packets after a gap.
  package func reset() { state.withLock { $0.reset() } }
}

/// The decoder's inside.
///
/// Unchecked Sendable: it lives in its decoder's mutex and nowhere else.
private struct OpusDecoderState: @unchecked Sendable {
  private let format: PCMFormat
  private let context: CodecContext
  private let packet: Packet
  private let frame: Frame

  init(_ format: PCMFormat) throws(MediaError) {
    self.format = format
    packet = try Packet()
    frame = try Frame()
    // libopus gives each packet's frames at once; FFmpeg's own decoder keeps some back.
    context = try CodecContext(decoder: AV_CODEC_ID_OPUS, preferring: "libopus") { context in
      context.sample_rate = Int32(format.sampleRate)
      av_channel_layout_default(&context.ch_layout, Int32(format.channels))
      context.request_sample_fmt = AV_SAMPLE_FMT_FLT
    }
  }

  mutating func decode(_ bytes: [UInt8]) throws(MediaError) -> [Float] {
    guard !bytes.isEmpty else { throw MediaError(.damagedAudio, while: .decoding, "an empty packet") }
    let target = try packet.reserve(bytes.count, while: .decoding)
    bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(start: target, count: bytes.count).copyBytes(from: $0) }
    var output: [Float] = []
    do {
      _ = try context.send(packet)
      while try context.receive(frame) {
        let samples = try AudioFrameSamples.samples(of: frame, channels: format.channels)
        output = output.isEmpty ? samples : output + samples
        frame.clear()
      }
    } catch {
      throw error.cause == .outOfMemory ? error : error.as(.damagedAudio)
    }
    return output
  }

  mutating func reset() { context.flush() }
}

extension PCMFormat {
  fileprivate func checkForOpus() throws(MediaError) {
    try check(while: .opening)
    guard sampleRate == OpusEncoder.sampleRate else {
      throw MediaError(.audioFormatNotSupported, while: .opening, "Opus runs at 48 kHz, not \(self)")
    }
  }
}
