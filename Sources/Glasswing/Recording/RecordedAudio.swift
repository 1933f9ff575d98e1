import MediaEngine
import Units

/// A recording's sound, between its queue and the muxer: what comes before the first picture waits for it, and coded packets wait
/// for the picture that belongs beside them.
///
/// Pictures never wait for sound. Sound waits for pictures 0.5 s at most, in the packets' own times; so packets stand in the
/// file in the order of their times, as long as both come, and what has come is written soon, when only one does.
struct RecordedAudio {
  /// How much sound before the first picture is kept, since the picture of the same time comes later than the sound.
  private static let longestPreroll: Duration = .seconds(2)
  private static let longestWait: Duration = .milliseconds(500)

  private let codec: AudioEncoder.Codec
  private let fillsAllGaps: Bool
  private var expected: PCMFormat?
  private var preroll = FIFO<RecordingAudioBlock>()
  private var prerollLength: Duration = .zero
  private var track: AudioTrackWriter?
  /// Turns sound of another form into the track's.
  private var resampler: Resampler?
  private var waiting = FIFO<AudioTrackWriter.Packet>()
  /// The recording's beginning; nil before it.
  private var begin: Instant?
  /// Sound that is in no file.
  private(set) var dropped: Duration = .zero

  init(codec: AudioEncoder.Codec, container: FragmentedMuxer.Container) {
    self.codec = codec
    fillsAllGaps = !container.keepsGaps(in: codec)
  }

  var encoder: AudioEncoder? { track?.encoder }
  /// Silence that stands where sound was missing.
  var filled: Duration { track.map { $0.encoder.input.duration(frames: $0.counts.filled) } ?? .zero }
  /// Sound that overlapped what came before.
  var overlapping: Duration { track.map { $0.encoder.input.duration(frames: $0.counts.overlapping) } ?? .zero }

  /// Says what form the sound will have, so that its track is there before it.
  mutating func expect(_ format: PCMFormat) { expected = expected ?? format }

  /// The first picture is at hand: makes the track, if the sound's form is known by now.
  mutating func prepare() {
    guard track == nil, begin == nil, let format = expected ?? preroll.first?.format else { return }
    // Sound that can't be coded costs the sound alone.
    guard let encoder = try? AudioEncoder(codec, format) else { return }
    track = AudioTrackWriter(encoder: encoder, fillsAllGaps: fillsAllGaps)
  }

  /// The first picture is in the file. Sound from then on goes beside it.
  mutating func start(at first: Instant) {
    begin = first
    while let sound = preroll.popFirst() { take(sound) }
    prerollLength = .zero
  }

  mutating func take(_ sound: RecordingAudioBlock) {
    guard let begin else { return keep(sound) }
    guard track != nil else {
      dropped += sound.duration
      return
    }
    // Only the beginning can lie before the first picture.
    guard track?.next == nil else { return encode(sound) }
    let rest = sound.from(begin)
    dropped += sound.duration - (rest?.duration ?? .zero)
    guard let rest else { return }
    if let presentation = rest.presentation, presentation - begin > .milliseconds(20) { encode(silence(at: begin)) }
    encode(rest)
  }

  /// Sound that comes late is preceded by what fills any other gap: players expect each track to begin with the file.
  private func silence(at begin: Instant) -> RecordingAudioBlock {
    let format = track?.encoder.input ?? PCMFormat(sampleRate: 48_000, channels: 1)
    let samples = [Float](repeating: 0, count: format.channels)
    return RecordingAudioBlock(format: format, samples: samples, presentation: begin)
  }

  /// Packets that belong before a picture, or that have waited long enough.
  mutating func ready(before picture: Instant?) -> [AudioTrackWriter.Packet] {
    var packets: [AudioTrackWriter.Packet] = []
    while let first = waiting.first, let last = waiting.last {
      let isDue = picture.map { first.presentation < $0 } ?? false
      guard isDue || last.presentation - first.presentation > Self.longestWait else { break }
      if let packet = waiting.popFirst() { packets.append(packet) }
    }
    return packets
  }

  /// All that waits.
  mutating func readyNow() -> [AudioTrackWriter.Packet] {
    var packets: [AudioTrackWriter.Packet] = []
    while let packet = waiting.popFirst() { packets.append(packet) }
    return packets
  }

  /// The rest, as far as it begins before the last picture ends.
  mutating func finish(before end: Instant?) -> [AudioTrackWriter.Packet] {
    if let rest = try? track?.finish() { for packet in rest { waiting.append(packet) } }
    return readyNow().filter { packet in end.map { packet.presentation < $0 } ?? true }
  }

  private mutating func keep(_ sound: RecordingAudioBlock) {
    preroll.append(sound)
    prerollLength += sound.duration
    while prerollLength > Self.longestPreroll, let oldest = preroll.popFirst() {
      prerollLength -= oldest.duration
      dropped += oldest.duration
    }
  }

  private mutating func encode(_ sound: RecordingAudioBlock) {
    do throws(MediaError) {
      let samples = try converted(sound)
      for packet in try track?.append(samples, at: sound.presentation) ?? [] { waiting.append(packet) }
    } catch {
      // It is the sound's alone to lose.
      dropped += sound.duration
    }
  }

  private mutating func converted(_ sound: RecordingAudioBlock) throws(MediaError) -> [Float] {
    guard let format = track?.encoder.input, format != sound.format else { return sound.samples }
    if resampler?.from != sound.format { resampler = try Resampler(from: sound.format, to: format) }
    return try resampler?.convert(sound.samples) ?? []
  }
}
