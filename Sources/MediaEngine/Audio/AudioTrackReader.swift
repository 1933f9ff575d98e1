import CFFmpeg
import Units

/// A file's sound track as samples at numbered places, at its own rate: frame n is n frame intervals after time 0, and
/// where the track has no sound there is silence.
///
/// Unchecked Sendable: it lives in its reader's mutex and nowhere else.
struct AudioTrackReader: @unchecked Sendable {
  /// Decoded sound and its place.
  private struct Chunk {
    var start: Int
    var samples: [Float]
    var frames: Int
    var end: Int { start.addingSaturating(frames) }
  }

  /// Packets in a row that may give no sound before the track is given up.
  private static let maximumWithoutAudio = 300
  /// How far before a place decoding begins, so that codecs which need earlier packets (AAC one, MP3 ten, Opus 80 ms) give what
  /// they give in one go.
  private static let seconds = (preroll: 0.5, furtherBack: 5.0, readThrough: 10.0)
  /// Stamps may be so many seconds from the count of samples, which is exact as long as nothing is lost: containers round stamps
  /// to milliseconds, FFmpeg guesses those of Vorbis between pages, recorders let them follow a clock. After a packet that could not be
  /// decoded, stamps alone know how much is missing.
  private static let tolerance = (usual: 0.1, afterDamage: 0.003)

  private let path: String
  private var input: InputContext
  private var decoder: CodecContext
  private let packet: Packet
  private let frame: Frame
  private var converter: AudioConverter

  private(set) var undecodablePackets = 0
  private var packetsWithoutAudio = 0
  private var lastFailure: MediaError.LibraryFailure?
  private var isDraining = false
  private var hasEnded = false

  /// The first frame's place and its stamp in the file.
  private(set) var start = 0
  private var startStamp: Int64?
  /// Where the packets' edges lie: the end of the first chunk.
  private var edge = 0
  /// Frames of each packet but the first and last; nil until known, 0 when they differ.
  private var packetFrames: Int?
  /// Packets of another length than that; the file's last is one.
  private var oddPackets = 0
  private var isAfterDamage = false
  /// The place that follows what was decoded last; nil after a seek.
  private var next: Int?
  private var held: Chunk?
  /// Decoded after `held`, to see whether the file goes on from there.
  private var following: Chunk?
  /// What lies before this place is gone.
  private var earliest = Int.min

  var sampleRate: Int { converter.rate }
  var channels: Int { converter.channels }
  /// FFmpeg's short name.
  let codec: String
  let channelsInFile: Int
  var hasPictures: Bool { input.hasPictures }

  /// Opens the file and decodes the first sound.
  ///
  /// - Parameter origin: time 0, on the file's axis of time; asked once, with whether there are pictures; nil for the
  ///   beginning of the sound.
  init(path: String, origin: (_ hasPictures: Bool) -> Duration?) throws(MediaError) {
    self.path = path
    packet = try Packet()
    frame = try Frame()
    input = try InputContext(path: path, reading: .sound)
    decoder = try Self.decoder(for: input)
    let parameters = try input.parameters().pointee
    codec = String(cString: avcodec_get_name(parameters.codec_id))
    converter = AudioConverter(rate: Int(parameters.sample_rate), channels: 1)
    channelsInFile = Int(parameters.ch_layout.nb_channels)
    // What the container says of rate and channels may be wrong (AAC with SBR); the first frame knows.
    guard try receiveFrame() else { throw nothingDecodable }
    let raw = frame.pointer.pointee
    guard raw.sample_rate > 0 else { throw nothingDecodable }
    converter = AudioConverter(rate: Int(raw.sample_rate), channels: min(2, max(1, Int(raw.ch_layout.nb_channels))))
    startStamp = Self.stamp(of: raw)
    if let origin = origin(input.hasPictures), let inFile = startStamp.flatMap({ input.nanoseconds($0) }) {
      let offset = Duration.nanoseconds(inFile.subtractingSaturating(origin.nanoseconds))
      start = PCMFormat(sampleRate: converter.rate, channels: 1).frames(in: offset)
    }
    next = start
    held = try chunk()
    edge = held?.end ?? start
  }

  /// Where the sound ends as the file states it, in frames; nil where it does not.
  var end: Int? {
    let length = input.stream.pointee.duration
    if length != glasswing_av_nopts, length > 0 {
      return start.addingSaturating(frames(length))
    }
    let whole = input.context.pointee.duration
    guard whole != glasswing_av_nopts, whole > 0 else { return nil }
    let format = PCMFormat(sampleRate: converter.rate, channels: 1)
    return start.addingSaturating(format.frames(in: .nanoseconds(whole.multipliedSaturating(by: 1000))))
  }

  /// So many frames from a place on, interleaved.
  mutating func read(from place: Int, frames count: Int) throws(MediaError) -> [Float] {
    if place < earliest || place.subtractingSaturating(held?.end ?? next ?? start) > span(Self.seconds.readThrough) {
      try seek(to: place)
    }
    let end = place.addingSaturating(count)
    var output = [Float](repeating: 0, count: count * channels)
    var filled = place
    while filled < end {
      if held == nil { held = try nextChunk() }
      guard let chunk = held, chunk.start < end else { break }
      let from = max(chunk.start, filled)
      let to = min(chunk.end, end)
      if from < to {
        let source = (from - chunk.start) * channels..<(to - chunk.start) * channels
        let target = (from - place) * channels
        output.replaceSubrange(target..<target + source.count, with: chunk.samples[source])
        filled = to
      }
      if chunk.end <= end {
        earliest = max(earliest, chunk.end)
        held = nil
      }
    }
    return output
  }

  // MARK: Places

  private mutating func seek(to place: Int) throws(MediaError) {
    if hasEnded, place >= earliest { return }
    let preroll = span(Self.seconds.preroll)
    guard place.subtractingSaturating(start) > preroll, let startStamp, try isExactAfterSeek() else {
      if place < earliest { try reopen() }
      return
    }
    for back in [preroll, span(Self.seconds.furtherBack)] {
      let ticks = av_rescale_q(
        Int64(place.subtractingSaturating(start).subtractingSaturating(back)),
        AVRational(num: 1, den: Int32(converter.rate)), input.timeBase)
      guard input.seek(to: startStamp.addingSaturating(ticks)) else { break }
      decoder.flush()
      isDraining = false
      hasEnded = false
      next = nil
      following = nil
      held = nil
      held = try nextChunk()
      guard let held, held.start <= place, held.start >= start else { continue }
      earliest = held.start
      return
    }
    try reopen()
  }

  /// Whether a stamp says the very frame; those of Vorbis within a page are guesses. Where stamps are coarser than frames, packets of one length do.
  private mutating func isExactAfterSeek() throws(MediaError) -> Bool {
    guard codec != "vorbis" else { return false }
    guard frames(1) > 1 else { return true }
    // After the beginning, two packets show whether they have one length.
    while packetFrames == nil, let chunk = try nextChunk() { held = chunk }
    return (packetFrames ?? 0) > 2 * frames(1)
  }

  /// From the beginning; what stands before the place is decoded on the way.
  private mutating func reopen() throws(MediaError) {
    input = try InputContext(path: path, reading: .sound)
    decoder = try Self.decoder(for: input)
    isDraining = false
    hasEnded = false
    next = start
    following = nil
    held = nil
    earliest = .min
  }

  /// Frames in so many ticks of the file.
  private func frames(_ ticks: Int64) -> Int {
    Int(av_rescale_q(ticks, input.timeBase, AVRational(num: 1, den: Int32(converter.rate))))
  }

  private func span(_ seconds: Double) -> Int { Int(seconds * Double(converter.rate)) }

  // MARK: Decoding

  /// A packet that is stamped ahead is a gap only if the file goes on from there. If what follows it falls back, its stamp is damaged:
  /// its sound goes where the count of samples says if that fits what follows; else it is left out and counted.
  private mutating func nextChunk() throws(MediaError) -> Chunk? {
    if let following {
      self.following = nil
      return following
    }
    let expected = next
    guard var chunk = try decodedChunk() else { return nil }
    while let expected, chunk.start > expected, var after = try decodedChunk() {
      guard after.start < chunk.start else {
        following = after
        break
      }
      let counted = expected.addingSaturating(chunk.frames)
      let isAlone = distance(after.start, counted) > distance(after.start, expected)
      if !isAlone, distance(after.start, counted) <= span(Self.tolerance.usual) {
        chunk.start = expected
        after.start = counted
        following = after
      } else {
        undecodablePackets += 1
        if distance(after.start, expected) <= span(Self.tolerance.usual) { after.start = expected }
        chunk = after
      }
      next = after.end
    }
    return chunk
  }

  private func distance(_ one: Int, _ other: Int) -> UInt { one.subtractingSaturating(other).magnitude }

  private mutating func decodedChunk() throws(MediaError) -> Chunk? {
    while try receiveFrame() {
      if let chunk = try chunk() { return chunk }
    }
    return nil
  }

  /// The frame that was received, at its place; nil when it can't have one, or holds nothing.
  private mutating func chunk() throws(MediaError) -> Chunk? {
    let samples = try converter.samples(of: frame)
    let stamp = Self.stamp(of: frame.pointer.pointee)
    frame.clear()
    let count = samples.count / channels
    guard count > 0 else { return nil }
    var place = next ?? start
    if let stamp, let startStamp {
      let stated = start.addingSaturating(frames(stamp.subtractingSaturating(startStamp)))
      if let next {
        let tolerance = span(isAfterDamage ? Self.tolerance.afterDamage : Self.tolerance.usual)
        if stated.subtractingSaturating(next).magnitude > tolerance { place = stated }
        isAfterDamage = false
      } else {
        place = snapped(stated, frames: count)
      }
    } else if next == nil {
      return nil
    }
    if next != nil, place == next, place > start { note(packetOf: count) }
    next = place.addingSaturating(count)
    return Chunk(start: place, samples: samples, frames: count)
  }

  /// The nearest place that a packet can have, where stamps are coarser than frames. By its end: the beginning of what follows
  /// a seek may be cut off.
  private func snapped(_ place: Int, frames count: Int) -> Int {
    guard frames(1) > 1, let packetFrames, packetFrames > 0 else { return place }
    let beyond = place.addingSaturating(count).subtractingSaturating(edge)
    let packets = Int(Int64(saturating: (Double(beyond) / Double(packetFrames)).rounded()))
    return edge.addingSaturating(packets.multipliedSaturating(by: packetFrames)).subtractingSaturating(count)
  }

  private mutating func note(packetOf count: Int) {
    guard let packetFrames else { return packetFrames = count }
    guard packetFrames != count else { return }
    oddPackets += 1
    if oddPackets > 1 { self.packetFrames = 0 }
  }

  /// Decodes until there is a frame. False at the end.
  private mutating func receiveFrame() throws(MediaError) -> Bool {
    while !hasEnded {
      if try receive() {
        packetsWithoutAudio = 0
        return true
      }
      guard !isDraining else {
        hasEnded = true
        break
      }
      guard try input.read(packet) else {
        isDraining = true
        _ = try? decoder.send(nil)
        continue
      }
      packetsWithoutAudio += 1
      guard packetsWithoutAudio <= Self.maximumWithoutAudio else { throw nothingDecodable }
      do {
        _ = try decoder.send(packet)
      } catch {
        passOver(error)
      }
    }
    return false
  }

  private mutating func receive() throws(MediaError) -> Bool {
    do {
      return try decoder.receive(frame)
    } catch {
      passOver(error)
      return false
    }
  }

  private mutating func passOver(_ error: MediaError) {
    undecodablePackets += 1
    isAfterDamage = true
    lastFailure = error.library
  }

  private var nothingDecodable: MediaError {
    let detail = packetsWithoutAudio > 0 ? "\(packetsWithoutAudio) packets tried" : "the track is empty"
    return MediaError(.noDecodableAudio, while: .decoding, detail, library: lastFailure, path: path)
  }

  private static func stamp(of frame: AVFrame) -> Int64? {
    let stamp = frame.best_effort_timestamp
    return stamp == glasswing_av_nopts ? nil : stamp
  }

  private static func decoder(for input: InputContext) throws(MediaError) -> CodecContext {
    let parameters = try input.parameters()
    return try CodecContext(decoder: parameters.pointee.codec_id, parameters: parameters) { context in
      // Without it, stamps don't move when priming is cut off.
      context.pkt_timebase = input.timeBase
    }
  }
}
