import Foundation
import LinkProtocol
import MWDATCamera
import MediaEngine
import Units

/// What writes a recording: the muxer of the present file, and the files before it.
///
/// `@unchecked Sendable`: confined to the recorder's lane; everything here is called there and nowhere else.
final class RecordingWriter: @unchecked Sendable {
  /// What a written unit brought about.
  struct Outcome: Equatable {
    var events: [RecordingEvent] = []
    var reachedLimit = false
  }

  /// Frames last this long where nobody says how long they do.
  private static let usualFrame: Duration = .nanoseconds(33_333_333)

  private let path: String
  private let container: RecordingContainer
  private let overwrites: Bool
  private let isNew: Bool
  private let limit: Duration?
  private var frame = RecordingWriter.usualFrame

  private var parts = RecordingParts()
  /// What becomes of sound beside pictures; nil for none.
  private var sound: RecordedAudio?
  /// The file, where it holds sound alone.
  private var audioFile: AudioFileWriter?
  private var format: CMFormatDescription?
  private var parameterSets: [[UInt8]] = []
  private var part = 1
  private var first: Instant?
  /// From the last picture but one to the last.
  private var interval: Duration = .zero
  /// The last picture's presentation time.
  private var latest: Instant?
  private(set) var files: [URL] = []
  /// What was written by the last flush.
  private(set) var flushed: (frames: Int, sound: Duration) = (0, .zero)

  /// The name has been claimed.
  ///
  /// - Parameters:
  ///   - isNew: whether the file was made by the claim; another one stays where it is when nothing comes.
  ///   - codec: what sound is kept in; nil for none.
  init(
    path: String, container: RecordingContainer, codec: AudioEncoder.Codec?, overwrites: Bool, isNew: Bool,
    limit: Duration?
  ) {
    if let codec, let muxer = container.muxer { sound = RecordedAudio(codec: codec, container: muxer) }
    self.path = path
    self.container = container
    self.overwrites = overwrites
    self.isNew = isNew
    self.limit = limit
  }

  /// What is to be forced to the disk from time to time.
  var openFiles: [OutputFile] { audioFile.map { [$0.file] } ?? parts.files }
  var firstFrame: Instant? { first }
  /// How long samples may rest here when no further one comes: as long as a slow source takes for a picture, since how long
  /// the last one is shown can't be changed once it is handed over.
  var patience: Duration { max(.milliseconds(500), min(interval * 5 / 4, .milliseconds(1250))) }

  /// Figures over all files; what the recorder counts itself is left at 0.
  var statistics: RecordingStatistics {
    var sum = parts.statistics
    if let sound {
      sum.audioFilled += sound.filled
      sum.audioDropped += sound.dropped
      sum.audioOutside += sound.outside
      sum.audioRestarts += sound.restarts
    }
    if let audioFile { Self.add(audioFile, to: &sum) }
    return sum
  }

  /// - Parameter usualFrame: how long a frame lasts where it doesn't say so itself; asked when a file begins.
  func write(_ unit: RecordingUnit, usualFrame: () -> Duration?) throws(RecorderError) -> Outcome {
    if isBeyondLimit(unit.presentation) { return Outcome(reachedLimit: true) }
    var outcome = Outcome()
    try takeFormat(of: unit)
    if parts.present == nil {
      frame = duration(of: unit) ?? usualFrame() ?? Self.usualFrame
      // Never a file of this recording anew: one that could not be followed stays as it is.
      outcome.events.append(try begin(part: files.isEmpty ? 1 : part + 1, makeConfiguration()))
    }
    do throws(MediaError) {
      try append(unit)
    } catch {
      guard error.cause == .parameterSetsChanged else { throw failure(error) }
      outcome.events.append(try goOn(with: unit))
    }
    if let latest, let presentation = unit.presentation, presentation > latest { interval = presentation - latest }
    latest = unit.presentation ?? latest
    if first == nil, let presentation = unit.presentation {
      first = presentation
      sound?.start(at: presentation)
    }
    // Only now it is known into which file. The muxer holds the picture back, so sound stands before it.
    try writeAudio(before: unit.presentation)
    try endOverdueParts()
    outcome.events += sound?.takeEvents() ?? []
    return outcome
  }

  /// Says what form the sound will have that may come.
  func expectAudio(_ format: PCMFormat) { sound?.expect(format) }

  /// Sound beside pictures, or alone. What can't be used is counted.
  func write(_ unit: RecordingAudioBlock) throws(RecorderError) -> Outcome {
    guard container.audioFile == nil else { return try writeAlone(unit) }
    guard !isBeyondLimit(unit.presentation) else { return Outcome() }
    sound?.take(unit)
    try writeAudio(before: latest)
    return Outcome(events: sound?.takeEvents() ?? [])
  }

  private func writeAudio(before picture: Instant?) throws(RecorderError) {
    while let packet = sound?.next(before: picture) { try write(packet) }
  }

  private func write(_ packet: AudioTrackWriter.Packet) throws(RecorderError) { try parts.append(packet) }

  /// No file stays open for sound that doesn't come.
  private func endOverdueParts() throws(RecorderError) {
    while parts.isOverdue(at: latest) {
      if let moment = parts.awaited { sound?.fill(upTo: moment) }
      while let packet = sound?.next() { try write(packet) }
      if parts.isOverdue(at: latest) { try parts.finishFirst() }
    }
  }

  private func writeAlone(_ unit: RecordingAudioBlock) throws(RecorderError) -> Outcome {
    guard let unit = withinLimit(unit) else { return Outcome(reachedLimit: true) }
    var outcome = Outcome(reachedLimit: unit.isCut)
    do throws(MediaError) {
      if audioFile == nil, let kind = container.audioFile {
        audioFile = try AudioFileWriter(path: path, container: kind, format: unit.block.format)
        let url = URL(filePath: path)
        files.append(url)
        outcome.events.append(RecordingEvent(.began, file: url))
      }
      if first == nil, let file = audioFile { first = unit.block.presentation.map { $0 - file.place(of: nil) } }
      try audioFile?.append(unit.block.samples, of: unit.block.format, at: unit.block.presentation)
    } catch {
      throw failure(error)
    }
    return outcome
  }

  /// What of sound alone is within the asked length, and whether that is its end; nil for nothing. By the file and not
  /// by the times alone, since there need be none.
  private func withinLimit(_ unit: RecordingAudioBlock) -> (block: RecordingAudioBlock, isCut: Bool)? {
    guard let limit else { return (unit, false) }
    let room = limit - (audioFile?.place(of: unit.presentation) ?? .zero)
    guard room > .zero else { return nil }
    let frames = unit.format.frames(in: room)
    guard frames < unit.frames else { return (unit, false) }
    var block = unit
    block.samples = Array(unit.samples.prefix(frames * unit.format.channels))
    return frames > 0 ? (block, true) : nil
  }

  /// Hands what the muxer holds back to the system.
  func flush() throws(RecorderError) {
    while let packet = sound?.next() { try write(packet) }
    try parts.flush()
    let written = statistics
    flushed = (written.framesWritten, written.audioDuration)
  }

  /// Completes the recording. Without one frame the file that the claim made goes.
  func finish() throws(RecorderError) {
    if parts.present != nil {
      sound?.finish(beside: latest, lasting: frame)
      while let packet = sound?.nextOfRest() { try write(packet) }
    }
    try finishFiles()
  }

  /// What is to be told of the end.
  func takeEvents() -> [RecordingEvent] { sound?.takeEvents() ?? [] }

  private func finishFiles() throws(RecorderError) {
    if let audioFile {
      do throws(MediaError) {
        try audioFile.finish()
      } catch {
        throw failure(error)
      }
      return try audioFile.file.checkNotRemoved()
    }
    if files.isEmpty, isNew { RecordingName.giveBack(path) }
    try parts.finish(showingUntil: sound?.end)
  }

  /// Half a frame's tolerance, since stamps jitter: 4 s at 24 frames a second are 96 frames.
  private func isBeyondLimit(_ presentation: Instant?) -> Bool {
    guard let limit, let first, let presentation else { return false }
    return presentation - first >= limit - frame / 2
  }

  private func duration(of unit: RecordingUnit) -> Duration? {
    unit.duration.flatMap { $0 > .zero && $0 < .seconds(10) ? $0 : nil }
  }

  /// Reads the parameter sets when the format is another object than before; a stream has one for thousands of frames.
  private func takeFormat(of unit: RecordingUnit) throws(RecorderError) {
    guard format !== unit.format else { return }
    parameterSets = try unit.parameterSets()
    format = unit.format
  }

  private func append(_ unit: RecordingUnit) throws(MediaError) {
    guard let muxer = parts.present else { return }
    let result = unit.data.withContiguousStorage { bytes in
      Result { () throws(MediaError) in
        try muxer.append(bytes, presentation: unit.presentation, parameterSets: parameterSets)
      }
    }
    try result.get()
  }

  private func makeConfiguration() throws(RecorderError) -> HEVCConfiguration {
    do throws(MediaError) {
      return try HEVCConfiguration(parameterSets: parameterSets)
    } catch {
      throw failure(error)
    }
  }

  private func begin(part: Int, _ configuration: HEVCConfiguration) throws(RecorderError) -> RecordingEvent {
    let path: String
    if part == 1 {
      path = self.path
    } else {
      (path, self.part) = try RecordingName.claim(following: self.path, part: part, overwrites: overwrites)
    }
    guard let kind = container.muxer else {
      throw .needsAudio(found: "video")
    }
    if part == 1 { sound?.prepare() }
    do throws(MediaError) {
      let muxer = try FragmentedMuxer(
        path: path, container: kind, video: .init(configuration: configuration, frameInterval: frame),
        sound: sound?.encoder,
        // The first file begins at zero; the following ones go on where it ended.
        origin: part == 1 ? nil : first)
      parts.begin(muxer)
    } catch {
      throw failure(error)
    }
    let url = URL(filePath: path)
    files.append(url)
    return RecordingEvent(part == 1 ? .began : .continued, file: url)
  }

  /// The container holds one set of parameters: the next file takes the unit, if a file can begin with it.
  private func goOn(with unit: RecordingUnit) throws(RecorderError) -> RecordingEvent {
    guard unit.isSync else { throw .unreadableSample(reason: "its format changed in mid-stream") }
    // Before the present file is ended: sets that no file can begin with must not end it.
    let configuration = try makeConfiguration()
    try parts.endPictures(before: unit.presentation ?? latest, awaitsAudio: sound?.isRecorded ?? false)
    let event = try begin(part: part + 1, configuration)
    do throws(MediaError) {
      try append(unit)
    } catch {
      throw failure(error)
    }
    return event
  }

  private func failure(_ error: MediaError) -> RecorderError {
    RecorderError(error, path: files.last?.path ?? path)
  }

  private static func add(_ file: AudioFileWriter, to sum: inout RecordingStatistics) {
    let format = file.format
    let counts = file.counts
    let duration = format.duration(frames: counts.written)
    sum.audioDuration += duration
    sum.audioFilled += format.duration(frames: counts.filled)
    sum.audioDropped += format.duration(frames: counts.overlapping)
    sum.audioRestarts += counts.restarts
    sum.duration += duration
    sum.bytes += file.file.writtenBytes
  }
}
