import LinkProtocol
import MediaEngine
import PortableMedia
import Units

/// Turns the units of one stream's sound into samples of the rate and channels that were asked for, one after the other
/// on the host's clock, as a value: decoder, timeline, resampler, in this order.
///
/// What it gives out follows itself without a gap, or says how much is missing: the start of each piece is that of the
/// one before, plus its length, plus what is missing.
struct AudioPath: Sendable {
  /// Samples that are ready.
  struct Piece: Sendable {
    var samples: [Float]
    var start: Instant
    /// Samples of each channel that are missing right before it.
    var missing: Int
    var isDiscontinuity: Bool
    /// Samples of each channel before it, missing ones included.
    var position: Int64
  }

  let format: PCMFormat
  /// How samples are stretched at present, in millionths; 0 where they are left alone.
  private(set) var correction = 0.0

  private var timeline: AudioTimeline
  private var decoder: OpusDecoder?
  private var resampler: Resampler?
  private var position: Int64 = 0
  /// What the next unit can't follow: one could not be used, or the stream rested.
  private var isBreakDue = false
  /// What is to be said of a gap behind which nothing has come out of the resampler yet.
  private var untold: (missing: Int, isDiscontinuity: Bool) = (0, false)

  init(_ format: PCMFormat) {
    self.format = format
    timeline = AudioTimeline(sampleRate: format.sampleRate)
  }

  /// What comes next follows nothing, as the stream rested: what the resampler has is of before.
  mutating func rest() {
    resampler = nil
    timeline.delivered(frames: 0, held: .zero)
    isBreakDue = true
  }

  /// Adds what is ready to `pieces`. Throws for a unit that can't be used, which then counts as missing; what was ready
  /// without it is added all the same.
  mutating func take(_ received: ReceivedAudio, into pieces: inout [Piece]) throws(MediaError) {
    do throws(MediaError) {
      try use(received, into: &pieces)
      isBreakDue = false
    } catch {
      isBreakDue = true
      throw error
    }
  }

  private mutating func use(_ received: ReceivedAudio, into pieces: inout [Piece]) throws(MediaError) {
    let unit = received.unit
    let isBreak = isBreakDue || unit.flags.contains(.discontinuity)
    let block = try decode(unit)
    let breaks = timeline.breaks(at: received.presentation, lost: received.lostBefore, isBreak: isBreak)
    if breaks || resampler?.from != block.format, let rest = finish() { pieces.append(rest) }
    let resampler = try resampler(from: block.format)
    let placement = timeline.place(
      received.presentation, frames: outputFrames(of: block), lost: received.lostBefore, isBreak: isBreak)
    correction = placement.correction
    resampler.compensate(ppm: placement.correction)
    // Kept also when the unit fails from here on: the count goes on behind them.
    untold.missing = untold.missing.addingSaturating(placement.missing)
    untold.isDiscontinuity = untold.isDiscontinuity || placement.isDiscontinuity
    let samples = try resampler.convert(leavingOut(placement.skip, of: block))
    if let piece = piece(samples, at: placement.start) { pieces.append(piece) }
    timeline.delivered(frames: samples.count / format.channels, held: resampler.delay)
  }

  /// What the resampler still holds, so that nothing is left in it before a gap or at the end.
  mutating func finish() -> Piece? {
    guard let resampler, let start = timeline.next else { return nil }
    self.resampler = nil
    guard let samples = try? resampler.flush() else {
      // Nothing is held any more.
      timeline.delivered(frames: 0, held: .zero)
      return nil
    }
    defer { timeline.delivered(frames: samples.count / format.channels) }
    return piece(samples, at: start)
  }

  private mutating func piece(_ samples: [Float], at start: Instant) -> Piece? {
    guard !samples.isEmpty else { return nil }
    position = position.addingSaturating(Int64(untold.missing))
    defer {
      position = position.addingSaturating(Int64(samples.count / format.channels))
      untold = (0, false)
    }
    return Piece(
      samples: samples, start: start, missing: untold.missing, isDiscontinuity: untold.isDiscontinuity,
      position: position)
  }

  private mutating func resampler(from: PCMFormat) throws(MediaError) -> Resampler {
    if let resampler { return resampler }
    let new = try Resampler(from: from, to: format)
    resampler = new
    return new
  }

  private func outputFrames(of block: PCMBlock) -> Int {
    guard block.format.sampleRate != format.sampleRate else { return block.frames }
    return format.frames(in: block.duration)
  }

  private func leavingOut(_ frames: Int, of block: PCMBlock) -> [Float] {
    guard frames > 0 else { return block.samples }
    let skipped = block.format.frames(in: format.duration(frames: frames))
    return Array(block.samples.dropFirst(skipped * block.format.channels))
  }

  /// Behind a gap a decoder keeps what it has: packets are told from those before, and what was heard a moment ago is
  /// nearer to what the lost ones held than nothing is.
  private mutating func decode(_ unit: AudioUnit) throws(MediaError) -> PCMBlock {
    let channels = Int(unit.channels)
    switch unit.codec {
    case .pcmFloat32:
      // Packets that come after these samples have nothing to do with those before.
      decoder = nil
      let samples = [Float](littleEndian: unit.payload)
      guard samples.count == Int(unit.frames) * channels else {
        throw MediaError(.damagedAudio, while: .decoding, "a unit that is not as long as it says")
      }
      return PCMBlock(format: PCMFormat(sampleRate: Int(unit.sampleRate), channels: channels), samples: samples)
    case .opus:
      let hasHistory = unit.flags.contains(.history)
      if hasHistory { decoder = nil }
      let decoder = try decoder(channels: channels)
      var samples = try decoder.decode(unit.payload)
      let said = Int(unit.frames) * OpusEncoder.sampleRate / max(1, Int(unit.sampleRate)) * channels
      guard said > 0, samples.count >= said else {
        throw MediaError(.damagedAudio, while: .decoding, "a packet that is shorter than it says")
      }
      // The last unit before a gap, or of a stream, may be shorter than its packet.
      let rest = samples.count - said
      if hasHistory { samples.removeFirst(rest) } else { samples.removeLast(rest) }
      return PCMBlock(format: decoder.format, samples: samples)
    }
  }

  private mutating func decoder(channels: Int) throws(MediaError) -> OpusDecoder {
    if let decoder, decoder.format.channels == channels { return decoder }
    let new = try OpusDecoder(PCMFormat(sampleRate: OpusEncoder.sampleRate, channels: channels))
    decoder = new
    return new
  }
}

extension [Float] {
  /// Samples as they travel: IEEE 754 binary32, little-endian. Bytes that make no whole one are left out.
  init(littleEndian bytes: [UInt8]) {
    let count = bytes.count / MemoryLayout<Float>.size
    self.init(unsafeUninitializedCapacity: count) { samples, initialized in
      bytes.withUnsafeBytes { bytes in
        #if _endian(little)
          UnsafeMutableRawBufferPointer(samples).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: bytes.prefix(count * MemoryLayout<Float>.size)))
        #else
          for index in 0..<count {
            let bits = bytes.loadUnaligned(fromByteOffset: index * MemoryLayout<Float>.size, as: UInt32.self)
            samples.initializeElement(at: index, to: Float(bitPattern: UInt32(littleEndian: bits)))
          }
        #endif
      }
      initialized = count
    }
  }
}
