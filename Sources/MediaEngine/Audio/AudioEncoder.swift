import CFFmpeg
import Synchronization
import Units

/// Encodes sound for a file, in packets that say where their sound belongs.
///
/// Any thread; calls take turns.
package final class AudioEncoder: Sendable {
  /// How sound is kept in a file.
  package enum Codec: String, Hashable, Sendable, CaseIterable {
    /// AAC-LC (ISO/IEC 14496-3).
    case aac
    /// RFC 6716.
    case opus
    /// Without loss (RFC 9639), with 24 bits of each sample.
    case flac
    /// 16-bit integers, little-endian.
    case pcm16
    /// 32-bit floating point, little-endian, as it came.
    case pcmFloat
  }

  /// Coded sound. Packets follow each other in the order of their sound, without gaps.
  package struct EncodedPacket: Hashable, Sendable {
    package var bytes: [UInt8]
    /// The output frame with which its sound begins, counted from the first that went in; negative for what comes
    /// before that, which a decoder has to leave out.
    package var start: Int
    /// How many output frames of sound it stands for.
    package var frames: Int
  }

  package let codec: Codec
  /// Of what goes in.
  package let input: PCMFormat
  /// Of what is in the file; the rate differs from the input's where the codec does not know that one.
  package let output: PCMFormat
  /// Frames that a packet holds.
  package let packetFrames: Int
  /// Output frames that a decoder yields before the first that went in: whole packets, so that one begins with that.
  package let priming: Int
  /// What a decoder has to know, as FFmpeg's containers take it.
  package let configuration: [UInt8]

  private let state: Mutex<AudioEncoderState>

  /// - Parameter bitrate: of codecs that lose something; nil for one at which nobody hears it.
  ///
  /// Throws `.audioFormatNotSupported`, `.codecNotSupported`, `.outOfMemory`.
  package init(_ codec: Codec, _ format: PCMFormat, bitrate: Bitrate? = nil) throws(MediaError) {
    try format.check(while: .opening)
    let output = PCMFormat(sampleRate: codec.rate(for: format.sampleRate), channels: format.channels)
    let context = try AudioEncoderContext(codec, output, bitrate: bitrate ?? codec.usualBitrate(for: output))
    self.codec = codec
    input = format
    self.output = output
    // Codecs without packets of their own: 20 ms.
    packetFrames = context.packetFrames > 0 ? context.packetFrames : output.sampleRate / 50
    let lead = context.packetFrames > 0 ? (packetFrames - context.priming % packetFrames) % packetFrames : 0
    priming = context.priming + lead
    configuration = context.configuration
    let resampler = output == format ? nil : try Resampler(from: format, to: output)
    state = Mutex(AudioEncoderState(context: context, resampler: resampler, packetFrames: packetFrames, lead: lead))
  }

  /// Takes interleaved samples; the packets that are ready.
  package func encode(_ samples: [Float]) throws(MediaError) -> [EncodedPacket] {
    try state.withLock { state throws(MediaError) in try state.encode(samples) }
  }

  /// The configuration as the end of the sound made it; nil where that changed nothing.
  package var finalConfiguration: [UInt8]? { state.withLock { $0.finalConfiguration } }

  /// What a container's track has to say of the sound.
  func copyParameters(to parameters: UnsafeMutablePointer<AVCodecParameters>) throws(MediaError) {
    try state.withLock { state throws(MediaError) in try state.copyParameters(to: parameters) }
  }

  /// The rest, the last packet of which may be shorter. Later calls throw `.finished`.
  package func finish() throws(MediaError) -> [EncodedPacket] {
    try state.withLock { state throws(MediaError) in try state.finish() }
  }
}

private struct AudioEncoderState {
  private let context: AudioEncoderContext
  private let resampler: Resampler?
  private let packetFrames: Int
  /// Frames of silence in front, which are nobody's.
  private let lead: Int
  /// Samples of a packet that is not full yet.
  private var waiting: [Float]
  private var isFinished = false

  init(context: AudioEncoderContext, resampler: Resampler?, packetFrames: Int, lead: Int) {
    self.context = context
    self.resampler = resampler
    self.packetFrames = packetFrames
    self.lead = lead
    waiting = [Float](repeating: 0, count: lead * context.format.channels)
  }

  var finalConfiguration: [UInt8]? { context.finalConfiguration }

  func copyParameters(to parameters: UnsafeMutablePointer<AVCodecParameters>) throws(MediaError) {
    try LibAV.check("avcodec_parameters_from_context", while: .opening) {
      avcodec_parameters_from_context(parameters, context.pointer)
    }
  }

  mutating func encode(_ samples: [Float]) throws(MediaError) -> [AudioEncoder.EncodedPacket] {
    guard !isFinished else { throw MediaError(.finished, while: .encoding) }
    if let resampler { waiting += try resampler.convert(samples) } else { waiting += samples }
    return try sendWhole()
  }

  mutating func finish() throws(MediaError) -> [AudioEncoder.EncodedPacket] {
    guard !isFinished else { throw MediaError(.finished, while: .encoding) }
    if let resampler { waiting += try resampler.flush() }
    var packets = try sendWhole()
    isFinished = true
    if !waiting.isEmpty { try context.send(waiting) }
    waiting = []
    try context.end()
    try receive(into: &packets)
    return packets
  }

  private mutating func sendWhole() throws(MediaError) -> [AudioEncoder.EncodedPacket] {
    var packets: [AudioEncoder.EncodedPacket] = []
    let whole = packetFrames * context.format.channels
    var start = 0
    while waiting.count - start >= whole {
      try context.send(Array(waiting[start..<start + whole]))
      start += whole
      try receive(into: &packets)
    }
    waiting.removeFirst(start)
    return packets
  }

  private func receive(into packets: inout [AudioEncoder.EncodedPacket]) throws(MediaError) {
    while var packet = try context.receive() {
      packet.start -= lead
      packets.append(packet)
    }
  }
}

extension AudioEncoder.Codec {
  /// The rates of AAC (ISO/IEC 14496-3, table 1.18) that sound is recorded at: a packet is 1024 frames, and so 32 ms at
  /// most. At the lower rates a track could end only within 64 or 128 ms.
  private static let ratesOfAAC = [32_000, 44_100, 48_000, 64_000, 88_200, 96_000]

  fileprivate func rate(for rate: Int) -> Int {
    switch self {
    case .aac: Self.rateOfAAC(for: rate)
    case .opus: OpusEncoder.sampleRate
    case .flac, .pcm16, .pcmFloat: rate
    }
  }

  /// The rate itself, or the lowest multiple of it that is recorded.
  private static func rateOfAAC(for rate: Int) -> Int {
    guard rate > 0 else { return OpusEncoder.sampleRate }
    return ratesOfAAC.first { $0.isMultiple(of: rate) } ?? OpusEncoder.sampleRate
  }

  fileprivate func usualBitrate(for format: PCMFormat) -> Bitrate? {
    let channels = Int64(format.channels)
    switch self {
    case .aac: return .kilobitsPerSecond(channels * (format.sampleRate <= 32_000 ? 48 : 80))
    case .opus: return .kilobitsPerSecond(channels * 64)
    case .flac, .pcm16, .pcmFloat: return nil
    }
  }
}
