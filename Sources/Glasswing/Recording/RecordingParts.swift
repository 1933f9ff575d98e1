import MediaEngine
import Units

/// The open files of a recording with pictures: the present one, and those before it whose pictures are over.
///
/// Sound comes later than pictures, and what codes it holds some back. So a file that is followed by another, since the
/// pictures' form changed, takes the sound beside its own pictures for 0.5 s more, in the new pictures' times, and is
/// complete with the first packet that belongs to the next file. All that it has by then stands in the file already.
/// Packets stay whole and are in one file each: the tracks of a file begin and end within half a packet of each other,
/// which is 16 ms at most, and the files' packets together are all there are. Only where pictures and sound have both
/// paused before a change of form, the pause is in neither file.
struct RecordingParts {
  private struct Ended {
    let muxer: FragmentedMuxer
    /// When the first picture after its own is shown; nil where no picture had a time.
    let next: Instant?
  }

  private static let longestWait: Duration = .milliseconds(500)
  /// How many packets of silence may wait to be put or left out: some 10 s of them.
  private static let mostSilence = 512

  private(set) var present: FragmentedMuxer?
  /// Oldest first.
  private var ended = FIFO<Ended>()
  /// Sums of the files that are complete.
  private var complete = RecordingStatistics()
  /// Silence that comes after the last picture so far. If that is the file's last, it belongs nowhere.
  private var silence = FIFO<AudioTrackWriter.Packet>()

  private var open: [FragmentedMuxer] { ended.waiting.map(\.muxer) + (present.map { [$0] } ?? []) }

  /// To be forced to the disk from time to time.
  var files: [OutputFile] { open.map(\.file) }

  /// Over all files, complete or not.
  var statistics: RecordingStatistics {
    var sum = complete
    for muxer in open { Self.add(muxer, to: &sum) }
    return sum
  }

  /// When the sound that is waited for should have ended; nil where none is.
  var awaited: Instant? { ended.first?.next }

  mutating func begin(_ muxer: FragmentedMuxer) { present = muxer }

  /// The present file's pictures are over.
  ///
  /// - Parameters:
  ///   - next: when the next file's first picture is shown, or about when.
  ///   - awaitsAudio: whether there may be more sound beside them.
  mutating func endPictures(before next: Instant?, awaitsAudio: Bool) throws(RecorderError) {
    guard let muxer = present else { return }
    present = nil
    ended.append(Ended(muxer: muxer, next: next))
    do throws(MediaError) {
      try muxer.endPictures(before: next)
    } catch {
      throw RecorderError(error, path: muxer.file.path)
    }
    if !awaitsAudio { try finishFirst() }
  }

  /// Writes a packet of sound into the file that it belongs to.
  mutating func append(_ packet: AudioTrackWriter.Packet) throws(RecorderError) {
    let isOpen = ended.isEmpty && present?.place(of: packet) == .open
    if isOpen, silence.count < Self.mostSilence { return silence.append(packet) }
    try appendSilence()
    try put(packet)
  }

  private mutating func appendSilence() throws(RecorderError) {
    while let packet = silence.popFirst() { try put(packet) }
  }

  private mutating func put(_ packet: AudioTrackWriter.Packet) throws(RecorderError) {
    while let muxer = ended.first?.muxer {
      switch muxer.place(of: packet) {
      case .here, .open: return try Self.append(packet, to: muxer)
      case .nowhere:
        if !packet.isFilled { complete.audioOutside += muxer.length(of: packet) }
        return
      case .next: try finishFirst()
      }
    }
    if let present { try Self.append(packet, to: present) }
  }

  /// Whether a file has waited long enough for its sound.
  func isOverdue(at picture: Instant?) -> Bool {
    guard let first = ended.first else { return false }
    guard let picture, let next = first.next else { return true }
    return !(.zero...Self.longestWait ~= picture - next)
  }

  /// Completes the oldest file that waits for sound.
  mutating func finishFirst() throws(RecorderError) {
    guard let muxer = ended.popFirst()?.muxer else { return }
    (ended.first?.muxer ?? present)?.continueSound(of: muxer)
    try finish(muxer)
  }

  /// Hands what the files hold back to the system.
  func flush() throws(RecorderError) {
    for muxer in open {
      do throws(MediaError) {
        try muxer.flush()
      } catch {
        throw RecorderError(error, path: muxer.file.path)
      }
    }
  }

  /// Completes all files, also where one can't be.
  ///
  /// - Parameter end: how long the last picture is shown; nil for as long as usual.
  mutating func finish(showingUntil end: Instant?) throws(RecorderError) {
    var failure: RecorderError?
    do throws(RecorderError) {
      try appendSilence()
    } catch {
      failure = error
    }
    let (muxers, last) = (open, present)
    ended.removeAll()
    present = nil
    for muxer in muxers {
      do throws(RecorderError) {
        try finish(muxer, showingUntil: muxer === last ? end : nil)
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  private mutating func finish(
    _ muxer: FragmentedMuxer, showingUntil end: Instant? = nil
  ) throws(RecorderError) {
    defer { Self.add(muxer, to: &complete) }
    do throws(MediaError) {
      try muxer.finish(showingUntil: end)
    } catch {
      throw RecorderError(error, path: muxer.file.path)
    }
    try muxer.file.checkNotRemoved()
  }

  private static func append(
    _ packet: AudioTrackWriter.Packet, to muxer: FragmentedMuxer
  ) throws(RecorderError) {
    do throws(MediaError) {
      try muxer.append(packet)
    } catch {
      throw RecorderError(error, path: muxer.file.path)
    }
  }

  private static func add(_ muxer: FragmentedMuxer, to sum: inout RecordingStatistics) {
    let summary = muxer.summary
    sum.framesWritten += summary.units
    sum.stampRepairs += summary.repairedStamps
    sum.duration += summary.duration
    sum.audioDuration += summary.audioDuration
    sum.bytes += muxer.file.writtenBytes
  }
}

extension OutputFile {
  /// - Throws: `notWritable` when somebody has taken the file away meanwhile.
  func checkNotRemoved() throws(RecorderError) {
    guard isRemoved else { return }
    throw .notWritable(path: path, reason: "the file was removed while it was being written")
  }
}
