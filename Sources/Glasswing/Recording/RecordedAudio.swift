import MediaEngine
import Units

/// A recording's sound, between its queue and the muxer: what comes before the first picture waits for it, and coded
/// packets wait for the picture that belongs beside them.
///
/// Pictures never wait for sound. Sound waits for pictures 0.5 s at most, in the packets' own times; so packets stand
/// in the file in the order of their times, as long as both come, and what has come is written soon, when only one
/// does. Packets are fetched one by one, and coded as they are: a gap's silence is never in memory as a whole.
struct RecordedAudio {
  /// How much sound before the first picture is kept, since the picture of the same time comes later than the sound.
  private static let longestPreroll: Duration = .seconds(2)
  private static let longestWait: Duration = .milliseconds(500)
  /// How much longer than the pictures sound may last, since coded sound ends with a whole packet. No packet is longer.
  private static let longestOverrun: Duration = .milliseconds(40)

  private let codec: AudioEncoder.Codec
  private let fillsAllGaps: Bool
  private var expected: PCMFormat?
  private var preroll = FIFO<RecordingAudioBlock>()
  private var prerollLength: Duration = .zero
  private var track: AudioTrackWriter?
  /// Why there is no track, or no more sound for it.
  private var obstacle: RecordingAudioLoss.Cause?
  private var waiting = FIFO<AudioTrackWriter.Packet>()
  /// The recording's beginning; nil before it.
  private var begin: Instant?
  /// When the last packet that was fetched is over.
  private var fetched: Instant?
  /// Once no more come: where sound and the last picture end; nil where nothing is to be cut off.
  private(set) var end: Instant?
  private var loss = AudioLossWatch()
  private var events: [RecordingEvent] = []
  /// Sound that belongs to no picture: from before the first, or after the end of the last.
  private(set) var outside: Duration = .zero

  init(codec: AudioEncoder.Codec, container: FragmentedMuxer.Container) {
    self.codec = codec
    fillsAllGaps = !container.keepsGaps(in: codec)
  }

  var encoder: AudioEncoder? { track?.encoder }
  /// Whether sound may come that is in a file.
  var isRecorded: Bool { track != nil && obstacle == nil }
  /// Silence that stands where sound was missing.
  var filled: Duration { duration(\.filled) }
  /// Sound that is in no file, and should be.
  var dropped: Duration { loss.total + duration(\.overlapping) }
  /// How often the sound's times began anew.
  var restarts: Int { track?.counts.restarts ?? 0 }

  private func duration(_ count: KeyPath<AudioTrackWriter.Counts, Int>) -> Duration {
    track.map { $0.encoder.input.duration(frames: $0.counts[keyPath: count]) } ?? .zero
  }

  /// What is to be told since it was asked last.
  mutating func takeEvents() -> [RecordingEvent] {
    defer { events = [] }
    return events
  }

  /// Says what form the sound will have, so that its track is there before it.
  mutating func expect(_ format: PCMFormat) { expected = expected ?? format }

  /// The first picture is at hand: makes the track, if the sound's form is known by now.
  mutating func prepare() {
    guard track == nil, begin == nil else { return }
    guard let format = expected ?? preroll.first?.format else {
      obstacle = .noTrack
      return
    }
    do throws(MediaError) {
      track = AudioTrackWriter(encoder: try AudioEncoder(codec, format), fillsAllGaps: fillsAllGaps)
    } catch {
      // It costs the sound alone; told when some comes.
      obstacle = .unsupportedForm
    }
  }

  /// The first picture is in the file. Sound from then on goes beside it.
  mutating func start(at first: Instant) {
    begin = first
    while let sound = preroll.popFirst() { take(sound) }
    prerollLength = .zero
  }

  mutating func take(_ sound: RecordingAudioBlock) {
    guard let begin else { return keep(sound) }
    guard obstacle == nil, track != nil else { return lose(sound.duration, obstacle ?? .noTrack) }
    // Only the beginning can lie before the first picture.
    guard track?.next == nil else { return append(sound) }
    let rest = sound.from(begin)
    outside += sound.duration - (rest?.duration ?? .zero)
    guard var rest else { return }
    rest.presentation = rest.presentation ?? begin
    if let presentation = rest.presentation, presentation - begin > .milliseconds(20) { append(silence(at: begin)) }
    append(rest)
  }

  /// Sound that comes late is preceded by what fills any other gap: players expect each track to begin with the file.
  private func silence(at begin: Instant) -> RecordingAudioBlock {
    let format = track?.encoder.input ?? PCMFormat(sampleRate: 48_000, channels: 1)
    let samples = [Float](repeating: 0, count: format.channels)
    return RecordingAudioBlock(format: format, samples: samples, presentation: begin)
  }

  /// The next packet most of which belongs before a picture, or that has waited long enough; nil for none.
  mutating func next(before picture: Instant?) -> AudioTrackWriter.Packet? {
    repeat {
      guard let first = waiting.first, let last = waiting.last else { continue }
      let half = encoder.map { $0.output.duration(frames: first.frames / 2) } ?? .zero
      let isDue = picture.map { first.presentation + half < $0 } ?? false
      // By more than that in either direction: then the sound's clock began anew.
      let span = last.presentation - first.presentation
      if isDue || span > Self.longestWait || span < .zero { return fetch() }
    } while code()
    return nil
  }

  /// The next of all that waits; nil for none.
  mutating func next() -> AudioTrackWriter.Packet? {
    while true {
      if let packet = fetch() { return packet }
      guard code() else { return nil }
    }
  }

  /// The pictures of a file ended at a moment, and sound up to there has not come in time: silence takes its place.
  /// Sound that has not begun at all begins no earlier.
  mutating func fill(upTo moment: Instant) {
    guard isRecorded else { return }
    guard track?.next != nil else {
      begin = moment
      return
    }
    do throws(MediaError) {
      try track?.fill(upTo: moment)
    } catch {
      fail()
    }
  }

  /// No more sound comes. The rest is to be fetched by `nextOfRest`.
  ///
  /// - Parameters:
  ///   - picture: when the last picture is shown; nil where no picture had a time.
  ///   - frame: how long it is.
  mutating func finish(beside picture: Instant?, lasting frame: Duration) {
    let last = picture.map { $0..<max($0, $0 + frame) }
    if let last {
      // Sound that has long gone on without pictures is kept whole; else it goes no further than what is in the file.
      let reached = max(last.upperBound, fetched ?? last.upperBound)
      end = reached - last.upperBound > Self.longestWait * 2 ? nil : reached
    }
    do throws(MediaError) {
      try track?.finish(beside: last)
    } catch {
      fail()
    }
  }

  /// The next of the rest: what belongs beside pictures, so that both end together.
  mutating func nextOfRest() -> AudioTrackWriter.Packet? {
    while let packet = next() {
      guard let end, let encoder else { return packet }
      let over = packet.presentation + encoder.decodedLength(of: packet) - end
      let isOutside = packet.presentation >= end || over > Self.longestOverrun
      // A time far ahead is of a clock that began anew, and says nothing of the pictures.
      guard isOutside, over < AudioTrackWriter.longestGap else { return encoder.cut(packet, at: end) }
      outside += encoder.output.duration(frames: packet.frames)
    }
    return nil
  }

  private mutating func fetch() -> AudioTrackWriter.Packet? {
    guard let packet = waiting.popFirst() else { return nil }
    fetched = encoder.map { packet.presentation + $0.output.duration(frames: packet.frames) }
    return packet
  }

  private mutating func keep(_ sound: RecordingAudioBlock) {
    preroll.append(sound)
    prerollLength += sound.duration
    while prerollLength > Self.longestPreroll, let oldest = preroll.popFirst() {
      prerollLength -= oldest.duration
      outside += oldest.duration
    }
  }

  private mutating func append(_ sound: RecordingAudioBlock) {
    do throws(MediaError) {
      try track?.append(sound.samples, of: sound.format, at: sound.presentation)
      if let event = loss.took() { events.append(event) }
    } catch {
      // A form that can't be converted; the next may be one that can.
      lose(sound.duration, .unsupportedForm)
    }
  }

  /// Codes a piece; false when nothing is left to do.
  private mutating func code() -> Bool {
    guard obstacle == nil else { return false }
    do throws(MediaError) {
      guard let packets = try track?.code() else { return false }
      for packet in packets { waiting.append(packet) }
      return true
    } catch {
      fail()
      return false
    }
  }

  /// The sound's alone to lose; what has been coded stays.
  private mutating func fail() {
    obstacle = .encoderFailed
    lose(.zero, .encoderFailed)
  }

  private mutating func lose(_ duration: Duration, _ cause: RecordingAudioLoss.Cause) {
    if let event = loss.lost(duration, cause) { events.append(event) }
  }
}

extension AudioEncoder {
  /// How much sound a decoder makes of a packet: a whole one, where the codec has no shorter.
  fileprivate func decodedLength(of packet: AudioTrackWriter.Packet) -> Duration {
    switch codec {
    case .aac, .opus: output.duration(frames: max(packetFrames, packet.frames))
    case .flac, .pcm16, .pcmFloat: output.duration(frames: packet.frames)
    }
  }

  /// A packet that says no more than what is before the end, as far as the codec lets it; unchanged where it ends
  /// before.
  fileprivate func cut(_ packet: AudioTrackWriter.Packet, at end: Instant) -> AudioTrackWriter.Packet {
    let frames = output.frames(in: end - packet.presentation)
    guard 1..<packet.frames ~= frames else { return packet }
    var packet = packet
    switch codec {
    case .flac: return packet
    case .aac, .opus: break
    case .pcm16, .pcmFloat: packet.bytes.removeLast((packet.frames - frames) * (packet.bytes.count / packet.frames))
    }
    packet.frames = frames
    return packet
  }
}
