import Units

/// Turns sound with presentation times into coded packets with presentation times.
///
/// Sound is given by `append` and comes out of `code`, piece by piece: however long a gap is, it costs no more memory
/// than one piece of its silence.
///
/// What a time says is compared with the count of frames so far:
/// - up to 2 ms apart, packets follow each other by the count;
/// - up to 20 ms, packets follow the times from there on and the sound is left alone; so they follow a clock that
///   drifts;
/// - sound that is missing becomes silence, up to 10 s (`fillsAllGaps`: up to an hour); more than that becomes a gap
///   between
///   the packets' times;
/// - sound that overlaps what came before is left out;
/// - a time more than an hour ahead, or 10 s and more behind, is no gap: a clock began anew, or the time is wrong. The
///   sound
///   follows what came before, whole and without silence, its packets have the new times, and later times are compared
/// with
///   these. `Counts.restarts` says how often that was. One wrong time counts twice, there and back.
///
/// So the times of packets rise strictly, except where a clock began anew. Sound of another form than the encoder's is
/// converted; where it stops or changes, what the filter holds back comes out first, so that no frame is lost and none
/// is shifted.
package struct AudioTrackWriter {
  /// A coded packet and where it belongs.
  package struct Packet: Hashable, Sendable {
    package var bytes: [UInt8]
    package var presentation: Instant
    /// Output frames.
    package var frames: Int
    /// Whether there is nothing in it but silence that was put where sound was missing.
    package var isFilled = false

    package init(bytes: [UInt8], presentation: Instant, frames: Int, isFilled: Bool = false) {
      self.bytes = bytes
      self.presentation = presentation
      self.frames = frames
      self.isFilled = isFilled
    }
  }

  /// What has been done to the sound, in frames of the encoder's input.
  package struct Counts: Hashable, Sendable {
    /// Sound that was taken.
    package var taken = 0
    /// Silence that was put where sound was missing.
    package var filled = 0
    /// Silence after the sound's end, beside the last picture; nothing was missing there.
    package var padded = 0
    /// Sound that overlapped, and was left out.
    package var overlapping = 0
    /// How often the times began anew.
    package var restarts = 0

    /// All that is in the file, or will be once it is coded.
    package var written: Int { taken.addingSaturating(filled).addingSaturating(padded) }
  }

  /// From a time of the encoder's input on, packets belong at that time on the presentation's axis.
  private struct Anchor {
    var input: Duration
    var presentation: Instant
  }

  private enum Piece {
    case samples([Float])
    case silence(frames: Int)
    /// What the encoder holds back.
    case end
  }

  /// A longer gap is not believed; the same holds for pictures.
  package static let longestGap = StampSequence.longestGap
  private static let tolerance: Duration = .milliseconds(2)
  private static let correctable: Duration = .milliseconds(20)
  private static let longestFill: Duration = .seconds(10)
  /// Silence is coded in pieces of so many frames.
  private static let silencePiece = 4096

  package let encoder: AudioEncoder
  package private(set) var counts = Counts()
  private let fillsAllGaps: Bool
  private var anchors: [Anchor] = []
  /// Whether a time has been given; until then the anchor's is made up.
  private var isTimed = false
  /// Frames for the encoder, those included that wait in `work`.
  private var framesIn = 0
  /// What waits to be coded.
  private var work: [Piece] = []
  /// Stretches of silence among the frames for the encoder, as far as they may be in packets to come.
  private var silences = FIFO<Range<Duration>>()
  /// Turns sound of another form into the encoder's.
  private var resampler: Resampler?

  /// - Parameter fillsAllGaps: for files that have no times, or no gaps between them.
  package init(encoder: AudioEncoder, fillsAllGaps: Bool) {
    self.encoder = encoder
    self.fillsAllGaps = fillsAllGaps
  }

  /// When the sound that comes next would begin if none is missing; nil before the first.
  package var next: Instant? { end.map { $0 + held } }

  /// How much sound has been given, with the silence between; what is to be coded included.
  package var length: Duration { input.duration(frames: framesIn) + held }

  /// How long after the beginning sound of such a time would be put, silence before it counted in.
  package func place(of presentation: Instant?) -> Duration {
    guard isTimed, let next, let presentation else { return length }
    let missing = presentation - next
    return Self.correctable...Self.longestGap ~= missing ? length + missing : length
  }

  /// Takes interleaved samples, to be fetched coded by `code`.
  ///
  /// - Parameter presentation: of the first frame; nil where it follows what came before.
  package mutating func append(
    _ samples: [Float], of format: PCMFormat, at presentation: Instant?
  ) throws(MediaError) {
    guard !samples.isEmpty else { return }
    guard let begin = beginning(presentation), let next else { return try take(samples, of: format) }
    let (missing, overlap) = (begin - next, next - begin)
    if missing > Self.longestGap || overlap >= Self.longestFill {
      try endRun()
      counts.restarts += 1
      anchor(at: begin)
    } else if missing >= Self.correctable {
      try endRun()
      fill(until: begin)
    } else if overlap >= Self.correctable {
      return try take(withoutOverlap(samples, of: format, overlap), of: format)
    } else if !fillsAllGaps, missing > Self.tolerance || overlap > Self.tolerance {
      // Files without times follow none; what is put in or left out there would be heard.
      anchor(at: begin - held)
    }
    try take(samples, of: format)
  }

  /// Sound has not come up to a moment, and is not waited for: silence takes its place where up to 10 s are missing
  /// (`fillsAllGaps`: up to an hour), and goes on for as long as it takes to have all before the moment out of the encoder.
  package mutating func fill(upTo moment: Instant) throws(MediaError) {
    try endRun()
    guard let next, moment - next <= (fillsAllGaps ? Self.longestGap : Self.longestFill) else { return }
    let lag = encoder.output.duration(frames: 3 * encoder.packetFrames)
    silence(input.frames(in: moment + lag - next), as: \.filled)
  }

  /// No more sound comes; the rest is to be fetched by `code`. The last use but that.
  ///
  /// - Parameter last: when the last picture beside it is shown. Where the sound stops up to 10 s before the end of
  ///   that, silence
  ///   makes both end together; only what is missing before that picture counts as filled.
  package mutating func finish(beside last: Range<Instant>? = nil) throws(MediaError) {
    try endRun()
    if let last, let next, Self.correctable...Self.longestFill ~= last.upperBound - next {
      if last.lowerBound > next { silence(input.frames(in: last.lowerBound - next), as: \.filled) }
      let rest = last.upperBound - (self.next ?? next)
      if rest > .zero { silence(input.frames(in: rest), as: \.padded) }
    }
    if !anchors.isEmpty { work.append(.end) }
  }

  /// Codes the next piece of what was given; the packets that are ready with it, and nil when nothing is left to do.
  package mutating func code() throws(MediaError) -> [Packet]? {
    guard !work.isEmpty else { return nil }
    let piece = work.removeFirst()
    switch piece {
    case .samples(let samples): return placed(try encoder.encode(samples))
    case .silence(let frames):
      let now = min(frames, Self.silencePiece)
      if frames > now { work.insert(.silence(frames: frames - now), at: 0) }
      return placed(try encoder.encode([Float](repeating: 0, count: now * input.channels)))
    case .end: return placed(try encoder.finish())
    }
  }

  private var input: PCMFormat { encoder.input }
  /// Sound that the filter has taken and not given back.
  private var held: Duration { resampler?.delay ?? .zero }
  /// When what was given to the encoder ends.
  private var end: Instant? {
    anchors.last.map { $0.presentation + (input.duration(frames: framesIn) - $0.input) }
  }

  /// When sound begins; nil when it is the first or the first with a time, which say where the count stands.
  private mutating func beginning(_ presentation: Instant?) -> Instant? {
    guard let presentation else {
      if anchors.isEmpty { anchor(at: Instant(nanoseconds: 0)) }
      return nil
    }
    guard !isTimed else { return presentation }
    isTimed = true
    anchors = []
    anchor(at: presentation - held)
    return nil
  }

  private mutating func take(_ samples: [Float], of format: PCMFormat) throws(MediaError) {
    if resampler?.from != (format == input ? nil : format) {
      try endRun()
      resampler = format == input ? nil : try Resampler(from: format, to: input)
    }
    give(try resampler?.convert(samples) ?? samples)
  }

  /// What the filter holds back is the end of what went in.
  private mutating func endRun() throws(MediaError) {
    guard let resampler else { return }
    give(try resampler.flush())
  }

  private mutating func give(_ samples: [Float]) {
    let frames = samples.count / input.channels
    guard frames > 0 else { return }
    framesIn = framesIn.addingSaturating(frames)
    counts.taken = counts.taken.addingSaturating(frames)
    work.append(.samples(samples))
  }

  private mutating func silence(_ frames: Int, as count: WritableKeyPath<Counts, Int>) {
    guard frames > 0 else { return }
    let first = framesIn
    framesIn = framesIn.addingSaturating(frames)
    silences.append(input.duration(frames: first)..<input.duration(frames: framesIn))
    counts[keyPath: count] = counts[keyPath: count].addingSaturating(frames)
    work.append(.silence(frames: frames))
  }

  private mutating func fill(until begin: Instant) {
    guard let next else { return }
    guard !fillsAllGaps, begin - next > Self.longestFill else {
      return silence(input.frames(in: begin - next), as: \.filled)
    }
    // A packet of silence stands between the two, so that no packet has sound of both sides.
    let between = 2 * encoder.packetFrames * input.sampleRate / max(1, encoder.output.sampleRate)
    anchor(at: begin - input.duration(frames: between))
    silence(between, as: \.filled)
  }

  private mutating func withoutOverlap(_ samples: [Float], of format: PCMFormat, _ overlap: Duration) -> [Float] {
    let frames = min(samples.count / format.channels, format.frames(in: overlap))
    counts.overlapping = counts.overlapping.addingSaturating(input.frames(in: format.duration(frames: frames)))
    return Array(samples.dropFirst(frames * format.channels))
  }

  private mutating func anchor(at presentation: Instant) {
    anchors.append(Anchor(input: input.duration(frames: framesIn), presentation: presentation))
  }

  private mutating func placed(_ packets: [AudioEncoder.EncodedPacket]) -> [Packet] {
    // What comes before the first frame is the codec's own run-up.
    packets.filter { $0.start >= 0 }.map { packet in
      let begin = encoder.output.duration(frames: packet.start)
      // Packets come in order: what lies before the anchor of this one is done with.
      while anchors.count > 1, anchors[1].input <= begin { anchors.removeFirst() }
      let anchor = anchors.first ?? Anchor(input: .zero, presentation: Instant(nanoseconds: 0))
      return Packet(
        bytes: packet.bytes, presentation: anchor.presentation + (begin - anchor.input), frames: packet.frames,
        isFilled: isSilent(from: begin, to: encoder.output.duration(frames: packet.start + packet.frames)))
    }
  }

  /// Asked for rising times only.
  private mutating func isSilent(from begin: Duration, to end: Duration) -> Bool {
    while let first = silences.first, first.upperBound <= begin { _ = silences.popFirst() }
    return silences.first.map { $0.lowerBound <= begin && end <= $0.upperBound } ?? false
  }
}
