import Units

/// Turns sound with presentation times into coded packets with presentation times.
///
/// What a time says is compared with the count of frames so far:
/// - up to 2 ms apart, packets follow each other by the count;
/// - up to 20 ms, packets follow the times from there on and the sound is left alone; so they follow a clock that drifts;
/// - sound that is missing becomes silence, up to 10 s (`fillsAllGaps`: always); more than that becomes a gap between the
///   packets' times;
/// - sound that overlaps what came before is left out, unless the times went back by more than 10 s: then a clock began
///   anew, and sound goes on where it was.
///
/// So the times of packets rise strictly.
package struct AudioTrackWriter {
  /// A coded packet and where it belongs.
  package struct Packet: Hashable, Sendable {
    package var bytes: [UInt8]
    package var presentation: Instant
    /// Output frames.
    package var frames: Int
  }

  /// What has been done to the sound, in input frames.
  package struct Counts: Hashable, Sendable {
    /// Sound that was taken.
    package var taken = 0
    /// Silence that was put where sound was missing.
    package var filled = 0
    /// Sound that overlapped, and was left out.
    package var overlapping = 0
  }

  /// From a time of the encoder's input on, packets belong at that time on the presentation's axis.
  private struct Anchor {
    var input: Duration
    var presentation: Instant
  }

  private static let tolerance: Duration = .milliseconds(2)
  private static let correctable: Duration = .milliseconds(20)
  private static let longestFill: Duration = .seconds(10)
  /// Silence is encoded in pieces of so many frames.
  private static let silencePiece = 4096

  package let encoder: AudioEncoder
  package private(set) var counts = Counts()
  private let fillsAllGaps: Bool
  private var anchors: [Anchor] = []
  /// Frames that the encoder has been given.
  private var framesIn = 0

  /// - Parameter fillsAllGaps: for files that have no times, or no gaps between them.
  package init(encoder: AudioEncoder, fillsAllGaps: Bool) {
    self.encoder = encoder
    self.fillsAllGaps = fillsAllGaps
  }

  /// When the sound that comes next would begin if none is missing; nil before the first.
  package var next: Instant? {
    anchors.last.map { $0.presentation + (input.duration(frames: framesIn) - $0.input) }
  }

  /// Takes interleaved samples; the packets that are ready.
  ///
  /// - Parameter presentation: of the first frame; nil where it follows what came before.
  package mutating func append(_ samples: [Float], at presentation: Instant?) throws(MediaError) -> [Packet] {
    guard !samples.isEmpty else { return [] }
    guard let next else {
      anchors = [Anchor(input: .zero, presentation: presentation ?? Instant(nanoseconds: 0))]
      return try encode(samples)
    }
    let begin = presentation ?? next
    let (missing, overlap) = (begin - next, next - begin)
    if missing >= Self.correctable { return try fill(missing) + encode(samples) }
    if overlap >= Self.longestFill { return try encode(samples) }
    if overlap >= Self.correctable { return try encode(withoutOverlap(samples, overlap)) }
    // Files without times follow none; what is put in or left out there would be heard.
    if !fillsAllGaps, missing > Self.tolerance || overlap > Self.tolerance { anchor(at: begin) }
    return try encode(samples)
  }

  /// The rest. The last use.
  package mutating func finish() throws(MediaError) -> [Packet] {
    guard !anchors.isEmpty else { return [] }
    return placed(try encoder.finish())
  }

  private var input: PCMFormat { encoder.input }

  private mutating func encode(_ samples: [Float]) throws(MediaError) -> [Packet] {
    let frames = samples.count / input.channels
    framesIn += frames
    counts.taken += frames
    return placed(try encoder.encode(samples))
  }

  private mutating func fill(_ gap: Duration) throws(MediaError) -> [Packet] {
    guard !fillsAllGaps, gap > Self.longestFill else { return try encodeSilence(frames: input.frames(in: gap)) }
    // A packet of silence stands between the two, so that no packet has sound of both sides.
    let after = (next ?? Instant(nanoseconds: 0)) + gap
    let between = 2 * encoder.packetFrames * input.sampleRate / max(1, encoder.output.sampleRate)
    anchor(at: after - input.duration(frames: between))
    return try encodeSilence(frames: between)
  }

  private mutating func encodeSilence(frames: Int) throws(MediaError) -> [Packet] {
    var packets: [Packet] = []
    var rest = frames
    while rest > 0 {
      let piece = min(rest, Self.silencePiece)
      framesIn += piece
      packets += placed(try encoder.encode([Float](repeating: 0, count: piece * input.channels)))
      rest -= piece
    }
    counts.filled += frames
    return packets
  }

  private mutating func withoutOverlap(_ samples: [Float], _ overlap: Duration) -> [Float] {
    let frames = min(samples.count / input.channels, input.frames(in: overlap))
    counts.overlapping += frames
    return Array(samples.dropFirst(frames * input.channels))
  }

  private mutating func anchor(at presentation: Instant) {
    anchors.append(Anchor(input: input.duration(frames: framesIn), presentation: presentation))
  }

  private mutating func placed(_ packets: [AudioEncoder.EncodedPacket]) -> [Packet] {
    packets.map { packet in
      let begin = encoder.output.duration(frames: packet.start)
      // Packets come in order: what lies before the anchor of this one is done with.
      while anchors.count > 1, anchors[1].input <= begin { anchors.removeFirst() }
      let anchor = anchors.first ?? Anchor(input: .zero, presentation: Instant(nanoseconds: 0))
      return Packet(
        bytes: packet.bytes, presentation: anchor.presentation + (begin - anchor.input), frames: packet.frames)
    }
  }
}
