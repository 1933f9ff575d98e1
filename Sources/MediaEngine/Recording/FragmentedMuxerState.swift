import CFFmpeg
import Units

/// The muxer's inside.
///
/// Unchecked Sendable: it lives in its muxer's mutex and nowhere else.
struct FragmentedMuxerState: @unchecked Sendable {
  private enum Phase {
    case writing
    /// The header is written, no unit yet: the next has to be a sync unit.
    case beginning
    case failed(MediaError)
    case finished
  }

  private struct Given {
    var units = 0
    /// Of the last unit.
    var end: Int64 = 0
    var audioPackets = 0
    var audioDuration: Duration = .zero
  }

  /// How much longer than usual the last picture may be shown, for sound that goes on beside it.
  private static let longestLast: Duration = .seconds(2)
  /// Ticks of a second in MP4 and MOV, the clock of MPEG-2 systems; Matroska counts milliseconds.
  private static let ticksPerSecond: Int64 = 90_000
  private static let ticksPerSecondOfMatroska: Int64 = 1000
  private static let fragmentDuration: Duration = .milliseconds(500)

  private let file: OutputFile
  private let container: FragmentedMuxer.Container
  private let configuration: HEVCConfiguration
  private let output: OutputContext
  private var phase = Phase.beginning
  private var stamps: StampSequence
  /// The unit that waits for the next one's stamp.
  private let held: Packet
  private var isHolding = false
  private var sound: MuxedAudio?
  private(set) var summary = FragmentedMuxer.Summary()
  /// Of what was given to the muxer so far: how much, and where the last unit ends. The muxer gathers a fragment
  /// before it writes it.
  private var given = Given()
  /// Once no more units come: where the last one ends, and where the next file's begin.
  private var ended: (last: Duration, next: Duration)?
  /// Whether sound paused between the two.
  private var hasPaused = false
  /// The same of those that are in whole fragments: what stays when a write fails.
  private var whole = Given()
  /// How much sound is held back.
  private var heldSound: Duration = .zero

  init(
    file: OutputFile, container: FragmentedMuxer.Container, video: FragmentedMuxer.VideoTrack, sound: AudioEncoder?,
    origin: Instant?
  ) throws(MediaError) {
    self.file = file
    self.container = container
    configuration = video.configuration
    held = try Packet()
    let timescale = container == .mkv ? Self.ticksPerSecondOfMatroska : Self.ticksPerSecond
    stamps = StampSequence(timescale: timescale, frameInterval: video.frameInterval, origin: origin)
    output = try OutputContext(format: container.formatName, target: file)
    try Self.describe(try output.addStream(), video, timescale: timescale)
    if let sound {
      self.sound = try MuxedAudio(sound, stream: try output.addStream())
    }
    try output.writeHeader(options: Self.options(container, keepsFirstTimes: origin != nil || sound != nil))
  }

  mutating func append(_ packet: AudioTrackWriter.Packet) throws(MediaError) -> Bool {
    try checkWritable()
    guard case .writing = phase, let time = stamps.time(of: packet.presentation) else { return false }
    guard let ready = try sound?.hold(packet, at: time) else { return false }
    summary.audioPackets += 1
    summary.audioDuration = summary.audioDuration + ready.duration
    if let packet = ready.packet { try writeSound(packet) }
    heldSound = ready.duration
    return true
  }

  mutating func append(
    _ unit: UnsafeRawBufferPointer, presentation: Instant?, decoding: Instant?, parameterSets: [[UInt8]]?
  ) throws(MediaError) {
    try checkWritable()
    let outline = try AccessUnitOutline(unit, coding: .hevc, while: .writing)
    if case .beginning = phase, !outline.isSync {
      throw MediaError(.firstUnitNotSync, while: .writing, path: file.path)
    }
    let inBand = try setsToWrite(unit, outline, apart: parameterSets)
    let decodingTick = stamps.next(decoding ?? presentation)
    if isHolding { try writeHeld(until: decodingTick) }
    try hold(unit, outline, inBand)
    held.pointer.pointee.dts = decodingTick
    held.pointer.pointee.pts = decodingTick
    if decoding != nil, let presentation { held.pointer.pointee.pts = max(decodingTick, stamps.tick(of: presentation)) }
    held.pointer.pointee.flags = outline.isSync ? AV_PKT_FLAG_KEY : 0
    isHolding = true
    phase = .writing
    summary.units += 1
    summary.repairedStamps = stamps.repairs
    summary.duration = StampSequence.duration(
      decodingTick.addingSaturating(stamps.frame).subtractingSaturating(stamps.first), stamps.timescale)
  }

  var lastSound: MuxedAudio.Last? { sound?.last }

  mutating func continueSound(after last: MuxedAudio.Last?) { sound?.follow(last) }

  mutating func endPictures(before next: Instant?) throws(MediaError) {
    try checkWritable()
    guard case .writing = phase else { return }
    let last = stamps.last ?? stamps.first
    let tick = next.map { stamps.tick(of: $0) } ?? last
    let step = tick.subtractingSaturating(last)
    let isBelievable = step > 0 && step <= StampSequence.ticks(StampSequence.longestGap, stamps.timescale)
    let following = isBelievable ? tick : last.addingSaturating(stamps.frame)
    if isHolding { try writeHeld(until: following) }
    summary.duration = StampSequence.duration(given.end.subtractingSaturating(stamps.first), stamps.timescale)
    ended = (
      StampSequence.duration(given.end, stamps.timescale),
      StampSequence.duration(max(given.end, following), stamps.timescale)
    )
    try flush()
  }

  mutating func place(of packet: AudioTrackWriter.Packet) -> FragmentedMuxer.PacketPlace {
    guard let sound, let time = stamps.time(of: packet.presentation) else { return .here }
    let middle = sound.middle(of: packet, at: time)
    guard let ended else {
      // How long the last picture is shown is known as long as that is held back.
      let isBeyond = !isHolding && middle >= StampSequence.duration(given.end, stamps.timescale)
      return packet.isFilled && isBeyond ? .open : .here
    }
    guard middle < ended.next else { return .next }
    if packet.isFilled, middle >= ended.last { hasPaused = true }
    return hasPaused ? .nowhere : .here
  }

  func length(of packet: AudioTrackWriter.Packet) -> Duration { sound?.length(of: packet) ?? .zero }

  mutating func flush() throws(MediaError) {
    try checkWritable()
    try writeLastHeld()
    try writeLastAudio()
    try write(nil)
    // The next unit may come late: what was said of the last one's length is a guess.
    if container != .mkv, case .writing = phase { try output.keepNextTime() }
  }

  mutating func finish(showingUntil end: Instant?) throws(MediaError) -> FragmentedMuxer.Summary {
    try checkWritable()
    try writeLastHeld(until: end)
    try writeLastAudio()
    do {
      try output.writeTrailer()
    } catch {
      fail(error)
      throw error
    }
    phase = .finished
    return summary
  }

  private func checkWritable() throws(MediaError) {
    switch phase {
    case .beginning, .writing: return
    case .failed(let error): throw error
    case .finished: throw MediaError(.finished, while: .writing, path: file.path)
    }
  }

  /// Parameter sets that have to ride in this unit: none, or for Matroska those that differ from the track's.
  private func setsToWrite(
    _ unit: UnsafeRawBufferPointer, _ outline: AccessUnitOutline, apart: [[UInt8]]?
  ) throws(MediaError) -> [[UInt8]] {
    let inside = outline.parameterSets.map { [UInt8](unit[$0]) }
    let known = configuration.parameterSets
    guard !inside.allSatisfy(known.contains) || !(apart ?? []).allSatisfy(known.contains) else { return [] }
    guard container == .mkv else { throw MediaError(.parameterSetsChanged, while: .writing, path: file.path) }
    // Sets that come apart belong to sync units; between them nothing refers to new ones.
    return !inside.isEmpty ? inside : outline.isSync ? apart ?? [] : []
  }

  /// Copies a unit into the packet, parameter sets as said and all else as it is.
  private func hold(
    _ unit: UnsafeRawBufferPointer, _ outline: AccessUnitOutline, _ sets: [[UInt8]]
  ) throws(MediaError) {
    let prefix = LengthPrefixedUnits.prefixLength
    let removed = outline.parameterSets.reduce(0) { $0 + $1.count + prefix }
    let added = sets.reduce(0) { $0 + $1.count + prefix }
    let target = try held.reserve(unit.count - removed + added, while: .writing)
    var end = target
    for set in sets {
      end.storeBytes(of: UInt32(set.count).bigEndian, as: UInt32.self)
      set.withUnsafeBytes {
        (end + prefix).copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(end), byteCount: $0.count)
      }
      end += prefix + set.count
    }
    // Runs between parameter sets; a run begins with a length and ends before one.
    var start = 0
    for range in outline.parameterSets + [unit.count + prefix..<unit.count + prefix] {
      let run = UnsafeRawBufferPointer(rebasing: unit[start..<range.lowerBound - prefix])
      if let base = run.baseAddress { end.copyMemory(from: base, byteCount: run.count) }
      end += run.count
      start = range.upperBound
    }
  }

  private mutating func writeLastHeld(until end: Instant? = nil) throws(MediaError) {
    guard isHolding else { return }
    let usual = held.pointer.pointee.dts.addingSaturating(stamps.frame)
    let more = (end.map { stamps.tick(of: $0) } ?? usual).subtractingSaturating(usual)
    guard more > 0, more <= StampSequence.ticks(Self.longestLast, stamps.timescale) else {
      return try writeHeld(until: usual)
    }
    try writeHeld(until: usual + more)
    summary.duration = StampSequence.duration(given.end.subtractingSaturating(stamps.first), stamps.timescale)
  }

  private mutating func writeLastAudio() throws(MediaError) {
    if let packet = sound?.release() { try writeSound(packet) }
  }

  private mutating func writeSound(_ packet: Packet) throws(MediaError) {
    try write(packet)
    given.audioPackets += 1
    given.audioDuration += heldSound
  }

  private mutating func writeHeld(until next: Int64) throws(MediaError) {
    held.pointer.pointee.duration = next - held.pointer.pointee.dts
    isHolding = false
    // A fragment that is written now ends before this unit, which begins the next one.
    try write(held)
    given.units += 1
    given.end = next
  }

  private mutating func write(_ packet: Packet?) throws(MediaError) {
    let wholeBytes = file.wholeBytes
    do {
      try output.write(packet)
    } catch {
      fail(error)
      throw error
    }
    if file.wholeBytes > wholeBytes { whole = given }
  }

  /// The file was cut back to its whole fragments: the figures are theirs.
  private mutating func fail(_ error: MediaError) {
    phase = .failed(error)
    summary.units = whole.units
    summary.audioPackets = whole.audioPackets
    summary.audioDuration = whole.audioDuration
    summary.duration =
      whole.units > 0 ? StampSequence.duration(whole.end.subtractingSaturating(stamps.first), stamps.timescale) : .zero
  }

  private static func describe(
    _ stream: UnsafeMutablePointer<AVStream>, _ video: FragmentedMuxer.VideoTrack, timescale: Int64
  ) throws(MediaError) {
    guard let parameters = stream.pointee.codecpar else {
      throw MediaError(.outOfMemory, while: .opening, "a stream without parameters")
    }
    let record = video.configuration.record
    let padding = Int(AV_INPUT_BUFFER_PADDING_SIZE)
    let extradata = try LibAV.allocated("av_mallocz", while: .opening, av_mallocz(record.count + padding))
    record.withUnsafeBytes {
      extradata.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(extradata), byteCount: $0.count)
    }
    parameters.pointee.extradata = extradata.assumingMemoryBound(to: UInt8.self)
    parameters.pointee.extradata_size = Int32(record.count)
    parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
    parameters.pointee.codec_id = AV_CODEC_ID_HEVC
    parameters.pointee.codec_tag = UInt32(littleEndian: 0x3163_7668)  // 'hvc1'
    parameters.pointee.width = Int32(video.configuration.size.width)
    parameters.pointee.height = Int32(video.configuration.size.height)
    stream.pointee.time_base = AVRational(num: 1, den: Int32(timescale))
    // Nominal rate, for readers of the header alone; microseconds are exact enough.
    let microseconds = Int32(clamping: max(1, video.frameInterval.nanoseconds / 1000))
    stream.pointee.avg_frame_rate = AVRational(num: 1_000_000, den: microseconds)
  }

  private static func options(
    _ container: FragmentedMuxer.Container, keepsFirstTimes: Bool
  ) -> [String: String] {
    let microseconds = fragmentDuration.nanoseconds / 1000
    switch container {
    case .mp4, .mov:
      // Fragments by time: by key pictures, a stream with few of them would lose minutes.
      let options = [
        "movflags": "empty_moov+default_base_moof", "frag_duration": "\(microseconds)",
        "video_track_timescale": "\(ticksPerSecond)", "write_tmcd": "0",
      ]
      // Each track's first stamp is pulled to 0 otherwise, by the muxer and by what stands before it.
      let keeping = ["movflags": "empty_moov+default_base_moof+frag_discont", "avoid_negative_ts": "disabled"]
      return keepsFirstTimes ? options.merging(keeping) { $1 } : options
    case .mkv: return ["cluster_time_limit": "\(microseconds / 1000)"]
    }
  }
}

extension FragmentedMuxer.Container {
  fileprivate var formatName: String {
    switch self {
    case .mp4: "mp4"
    case .mov: "mov"
    case .mkv: "matroska"
    }
  }
}
