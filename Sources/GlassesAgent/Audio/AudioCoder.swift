import LinkProtocol
import MediaEngine
import Units

/// Coded sound, before it has a stamp.
struct CodedAudio: Sendable {
  var codec: AudioCodecID
  /// Of what it decodes to.
  var format: PCMFormat
  var frames: Int
  /// The captured frame that it begins with…
  var index: Int
  /// … or so much before that.
  var early: Duration = .zero
  /// The payload holds more than the frames: before them what a decoder must have heard.
  var hasHistory = false
  var payload: [UInt8]
}

/// Makes units of captured blocks, as samples or as Opus packets, and changes from one to the other without a gap and
/// without sending anything twice.
///
/// An Opus encoder holds some sound back (its look-ahead), so its packets end that much before the block that went in
/// last. When it takes over, the last block before it goes out as samples, shortened by as much, and into the encoder as
/// well. The packet of that block is for the decoder's history alone: packets are told from those before, and without it
/// the next ones would be heard too softly for a tenth of a second. It goes in one packet with the second. When samples
/// take over, they begin where the packets ended.
///
/// For one thread. Blocks are 20 ms and follow each other without gaps; after a gap, begin with another coder.
struct AudioCoder {
  private let format: PCMFormat
  private var packets: OpusPackets?

  init(format: PCMFormat) { self.format = format }

  /// - Parameter index: the number of the block's first frame.
  mutating func code(_ samples: [Float], at index: Int, as codec: AudioCodecID) throws(MediaError) -> [CodedAudio] {
    switch codec {
    case .pcmFloat32:
      guard let packets else { return [pcm(samples[...], at: index)] }
      self.packets = nil
      return pieces(of: packets.uncovered + samples, at: packets.covered, blockLength: samples.count)
    case .opus:
      guard var packets else {
        var packets = try OpusPackets(format: format, at: index)
        let units = try packets.take(samples)
        let own = samples.count - packets.uncovered.count
        self.packets = packets
        return (own > 0 ? [pcm(samples.prefix(own), at: index)] : []) + units
      }
      defer { self.packets = packets }
      return try packets.take(samples)
    }
  }

  /// A last block, of any length, and all that was held back.
  mutating func finish(_ samples: [Float], at index: Int) throws(MediaError) -> [CodedAudio] {
    guard var packets else { return samples.isEmpty ? [] : [pcm(samples[...], at: index)] }
    self.packets = nil
    return try packets.finish(samples)
  }

  private func pieces(of samples: [Float], at index: Int, blockLength: Int) -> [CodedAudio] {
    stride(from: 0, to: samples.count, by: max(blockLength, 1)).map { start in
      pcm(samples[start..<min(start + blockLength, samples.count)], at: index + start / format.channels)
    }
  }

  private func pcm(_ samples: ArraySlice<Float>, at index: Int) -> CodedAudio {
    CodedAudio(
      codec: .pcmFloat32, format: format, frames: samples.count / format.channels, index: index,
      payload: samples.littleEndianBytes)
  }
}

/// Opus packets of a run of blocks. The run's first is the encoder's history alone.
private struct OpusPackets {
  private let format: PCMFormat
  private let coded: PCMFormat
  private let encoder: OpusEncoder
  private let resampler: Resampler?
  private let start: Int
  /// At 48 kHz: what went in, in all, and what of it is to be encoded.
  private var taken = 0
  private var waiting: [Float] = []
  private var encoded = 0
  /// The run's first packet, until the second is there.
  private var history: [UInt8]?

  /// Captured samples that no packet holds yet, and the frame with which they begin.
  private(set) var uncovered: [Float] = []
  private(set) var covered: Int

  init(format: PCMFormat, at start: Int) throws(MediaError) {
    self.format = format
    self.start = start
    coded = OpusEncoder.format(for: format)
    encoder = try OpusEncoder(coded, bitrate: .opus(for: format))
    resampler = coded == format ? nil : try Resampler(from: format, to: coded)
    covered = start
  }

  mutating func take(_ samples: [Float]) throws(MediaError) -> [CodedAudio] {
    uncovered.append(contentsOf: samples)
    try put(samples)
    // The first block is sent as samples as far as the packets leave it out, also when it does not fill one yet.
    cover(end(ofPackets: 1))
    var units: [CodedAudio] = []
    while waiting.count >= OpusEncoder.packetFrames * coded.channels { try encodeNext(&units) }
    return units
  }

  mutating func finish(_ samples: [Float]) throws(MediaError) -> [CodedAudio] {
    try put(samples)
    if let resampler { append(try resampler.flush()) }
    // Silence pushes out what the encoder holds back.
    let end = taken + encoder.lookahead
    var units: [CodedAudio] = []
    while encoded * OpusEncoder.packetFrames < end { try encodeNext(&units) }
    if let last = units.indices.last { units[last].frames -= encoded * OpusEncoder.packetFrames - end }
    return units
  }

  private mutating func put(_ samples: [Float]) throws(MediaError) {
    guard let resampler else { return append(samples) }
    append(try resampler.convert(samples))
  }

  private mutating func append(_ samples: [Float]) {
    waiting.append(contentsOf: samples)
    taken += samples.count / coded.channels
  }

  private mutating func encodeNext(_ units: inout [CodedAudio]) throws(MediaError) {
    let samples = Array(waiting.prefix(OpusEncoder.packetFrames * coded.channels))
    waiting.removeFirst(samples.count)
    let payload = try encoder.encode(samples)
    if encoded > 0 {
      let joined = history.flatMap { OpusPacket.joined($0, payload) }
      history = nil
      units.append(
        CodedAudio(
          codec: .opus, format: coded, frames: OpusEncoder.packetFrames,
          index: start + encoded * format.frames(in: AudioPipeline.blockDuration),
          early: coded.duration(frames: encoder.lookahead), hasHistory: joined != nil, payload: joined ?? payload))
    } else {
      history = payload
    }
    encoded += 1
    cover(end(ofPackets: encoded))
  }

  /// The captured frame that so many packets reach.
  private func end(ofPackets count: Int) -> Int {
    start + count * format.frames(in: AudioPipeline.blockDuration)
      - format.frames(in: coded.duration(frames: encoder.lookahead))
  }

  private mutating func cover(_ end: Int) {
    guard end > covered else { return }
    uncovered.removeFirst(min((end - covered) * format.channels, uncovered.count))
    covered = end
  }
}

extension Bitrate {
  /// What Opus packets of this sound are made at: speech, or music with little loss.
  static func opus(for format: PCMFormat) -> Bitrate {
    let mono: Int64 = format.sampleRate < 32_000 ? 32 : 64
    return .kilobitsPerSecond(format.channels > 1 ? mono * 3 / 2 : mono)
  }
}

extension ArraySlice<Float> {
  /// IEEE 754 binary32, as the link carries samples.
  var littleEndianBytes: [UInt8] {
    #if _endian(little)
      return withUnsafeBytes { Array<UInt8>($0) }
    #else
      return flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * $0)) } }
    #endif
  }
}
