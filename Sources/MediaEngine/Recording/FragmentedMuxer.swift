import CFFmpeg
import Synchronization
import Units

/// Writes HEVC access units into a file, as they are, and coded sound beside them, so that the file plays wherever the process
/// is killed.
///
/// The file consists of fragments (MP4, MOV: movie fragments after an empty movie box; Matroska: clusters) of 0.5 s. A
/// fragment reaches the system when the first unit after its end is appended, or at `flush()`. One unit is held back, since
/// a sample's duration is known with the next one; `flush()` writes it too. So a kill loses at most the last 0.5 s and one
/// unit, if whoever drives the muxer calls `flush()` when no unit has come for a while. The data of `file` reaches the disk
/// by `file.synchronize()`, which the owner runs at most 1 s apart on a lane of its own. The same holds for sound.
///
/// A file begins with its first picture: time 0 is that one's, and sound from before it is left out. Whether sound comes,
/// comes late or ends early changes nothing of the pictures' track. No file says that a decoder should leave something out in front:
/// a fragmented MP4 has no place for it before the first fragment, and players differ where there is one. So packets that begin
/// before time 0 are left out, and AAC and Opus fade in within their first packet.
///
/// Any thread; calls take turns. No clock and no thread inside.
package final class FragmentedMuxer: Sendable {
  /// The kind of file.
  package enum Container: String, Hashable, Sendable, CaseIterable {
    case mp4, mov, mkv

    /// What it keeps sound in where nobody asks for something else.
    package var usualAudio: AudioEncoder.Codec {
      switch self {
      case .mp4, .mov: .aac
      case .mkv: .opus
      }
    }

    /// Whether it has a form for such sound that players know.
    package func takes(_ codec: AudioEncoder.Codec) -> Bool {
      switch (self, codec) {
      case (.mp4, .aac), (.mp4, .opus), (.mp4, .flac): true
      case (.mp4, .pcm16), (.mp4, .pcmFloat): false
      case (.mov, .aac), (.mov, .pcm16), (.mov, .pcmFloat): true
      case (.mov, .opus), (.mov, .flac): false
      case (.mkv, _): true
      }
    }

    /// Whether times may be further apart than what lies between them lasts.
    package func keepsGaps(in codec: AudioEncoder.Codec) -> Bool {
      switch codec {
      case .aac, .opus, .flac: true
      // A file of MPEG-4's family has one length for all samples of the kind.
      case .pcm16, .pcmFloat: self == .mkv
      }
    }
  }

  /// The picture track: samples of type 'hvc1', that is, with their parameter sets in the sample entry alone.
  package struct VideoTrack: Hashable, Sendable {
    package var configuration: HEVCConfiguration
    /// The nominal time from one picture to the next: how long the last one lasts.
    package var frameInterval: Duration

    package init(configuration: HEVCConfiguration, frameInterval: Duration) {
      self.configuration = configuration
      self.frameInterval = frameInterval
    }
  }

  /// What has been recorded.
  package struct Summary: Hashable, Sendable {
    /// Units in the file or in the fragment to come.
    package var units = 0
    /// Units whose stamp was moved: equal to the one before, behind it, or missing.
    package var repairedStamps = 0
    /// From the first picture's beginning to the last one's end.
    package var duration: Duration = .zero
    /// Packets of sound in the file or in the fragment to come.
    package var audioPackets = 0
    /// Sound in the file or in the fragment to come.
    package var audioDuration: Duration = .zero
  }

  /// The file being written, for `synchronize()` on another lane.
  package let file: OutputFile

  private let state: Mutex<FragmentedMuxerState>

  /// Creates the file, or empties an existing one, and writes its header.
  ///
  /// - Parameters:
  ///   - sound: what codes the sound; nil for pictures alone.
  ///   - origin: what stamp 0 is, for a file that goes on where another ended; nil for the first unit's stamp. A unit
  ///     before it, or an hour or more after it, begins at 0.
  ///
  /// Throws `.audioFormatNotSupported` for sound that the container does not take, `.fileNotWritable`, `.storageFull`,
  /// `.writingFailed`.
  package convenience init(
    path: String, container: Container, video: VideoTrack, sound: AudioEncoder? = nil, origin: Instant? = nil
  ) throws(MediaError) {
    if let codec = sound?.codec, !container.takes(codec) {
      throw MediaError(.audioFormatNotSupported, while: .opening, "\(codec.rawValue) in \(container.rawValue)")
    }
    try self.init(file: try OutputFile(path: path), container: container, video: video, sound: sound, origin: origin)
  }

  /// As above, into a file that has just been created.
  init(
    file: OutputFile, container: Container, video: VideoTrack, sound: AudioEncoder? = nil, origin: Instant? = nil
  ) throws(MediaError) {
    self.file = file
    state = Mutex(
      try FragmentedMuxerState(file: file, container: container, video: video, sound: sound, origin: origin))
  }

  /// Adds an access unit: NAL units behind 4-byte lengths. Its bytes are copied once.
  ///
  /// Parameter sets inside the unit are left out when they are those of the sample entry. Other ones, inside or in
  /// `parameterSets`, throw `.parameterSetsChanged` for MP4 and MOV before anything is written: the recording goes on in a new
  /// file with this unit. Matroska takes them in the unit.
  ///
  /// - Parameters:
  ///   - presentation: when the picture is shown; nil if unknown.
  ///   - decoding: when it is decoded, for streams with B-frames; nil where that is the order of presentation.
  ///   - parameterSets: the sets that the unit depends on, where they travel apart from it.
  ///
  /// Throws also `.firstUnitNotSync`, `.malformedData`, `.storageFull`, `.writingFailed`, `.finished`. After a failed write
  /// every later call throws the same error; the file is cut back to its
  /// last whole fragment, and so stays playable.
  package func append(
    _ unit: UnsafeRawBufferPointer, presentation: Instant?, decoding: Instant? = nil, parameterSets: [[UInt8]]? = nil
  ) throws(MediaError) {
    try state.withLock { state throws(MediaError) in
      try state.append(unit, presentation: presentation, decoding: decoding, parameterSets: parameterSets)
    }
  }

  /// Adds a packet of sound. Its time is on the pictures' axis; one that does not rise moves behind the last.
  ///
  /// - Returns: whether it is in the file: false for sound before the first picture.
  ///
  /// Throws `.storageFull`, `.writingFailed`, `.finished`, as for units.
  @discardableResult
  package func append(_ packet: AudioTrackWriter.Packet) throws(MediaError) -> Bool {
    try state.withLock { state throws(MediaError) in try state.append(packet) }
  }

  /// Where a packet of sound belongs.
  package enum PacketPlace: Hashable, Sendable {
    /// In this file.
    case here
    /// It is silence in place of missing sound, and there are no pictures either, as far as is known: it belongs here
    /// only if more of them come.
    case open
    /// Between the files: sound began anew while there were no pictures, after a pause of both.
    case nowhere
    /// Beside the pictures of the next file: most of it is after the beginning of those.
    case next
  }

  /// No more units come: the last one is shown up to those of the next file, unless a flush has settled its end before.
  /// All of them are handed to the system. Packets of sound may follow, where `place(of:)` says so.
  ///
  /// - Parameter next: when the next file's first picture is shown; nil if unknown.
  ///
  /// Throws `.storageFull`, `.writingFailed`, `.finished`.
  package func endPictures(before next: Instant?) throws(MediaError) {
    try state.withLock { state throws(MediaError) in try state.endPictures(before: next) }
  }

  /// Where a packet belongs, which is the next one after those that were asked for before.
  package func place(of packet: AudioTrackWriter.Packet) -> PacketPlace { state.withLock { $0.place(of: packet) } }

  /// How much sound a packet stands for.
  package func length(of packet: AudioTrackWriter.Packet) -> Duration { state.withLock { $0.length(of: packet) } }

  /// Has sound go on after that of the file before, by the same encoder, also where its times have no relation to the
  /// pictures'.
  package func continueSound(of earlier: FragmentedMuxer) {
    let last = earlier.state.withLock { $0.lastSound }
    state.withLock { $0.continueSound(after: last) }
  }

  /// Ends the fragment and hands all appended units to the system. For pauses: each flush begins a new fragment.
  package func flush() throws(MediaError) {
    try state.withLock { state throws(MediaError) in try state.flush() }
  }

  /// Writes what is held back and the trailer, and has all of it reach the disk. Later calls throw `.finished`.
  ///
  /// - Parameter end: how long the last picture is shown, where that is longer than usual: a slow source's is, and sound
  ///   goes on beside it. Of no effect on a picture that `flush` has handed over, and beyond 2 s.
  @discardableResult
  package func finish(showingUntil end: Instant? = nil) throws(MediaError) -> Summary {
    let summary = try state.withLock { state throws(MediaError) in try state.finish(showingUntil: end) }
    try file.synchronize()
    return summary
  }

  /// What has been recorded so far.
  package var summary: Summary { state.withLock { $0.summary } }
}
