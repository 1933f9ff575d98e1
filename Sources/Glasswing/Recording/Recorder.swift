import Foundation
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import Units

/// Records compressed video into a file, as it is, without encoding it again, and sound beside it or alone.
///
/// Give it a stream (`record`), or samples and sound (`append`); then `finish`. It writes on a thread of its own,
/// independent of whoever else watches the stream. At any `kill -9` the file plays and has everything up to a second
/// before; at a power cut, up to two: data is forced to the disk at most a second apart, on a further thread.
///
/// Between caller and disk lies a bounded queue (`Options.queueSpan`, `queueBytes`). While the disk is stuck longer
/// than that, samples are dropped up to the next sync sample, and counted. The file begins with a sync sample; what
/// comes before one is dropped and counted too. Stamps that are equal, go back or are missing are moved, and counted.
///
/// A change of the picture's size or parameters makes MP4 and MOV go on in a second file, `NAME-002`, whose stamps
/// continue: the last picture of a file is shown up to the first of the next, and each packet of sound is in the file
/// that most of it belongs to. Matroska stays one file.
///
/// Sound is coded as `Options.audio` says. It begins with the first picture and keeps its place beside the pictures by
/// its presentation times, however the clocks drift. Whether it comes, comes late or ends early costs nothing but
/// itself. Where sound is missing there is silence, and beyond 10 s a gap between the times, except where the kind of
/// file knows none: WAV, FLAC, and PCM in MOV are silent all through, up to an hour. Times that are further ahead, or
/// 10 s and more behind, make no silence: sound goes on whole (`RecordingStatistics.audioRestarts`). Both tracks of a
/// file end within 50 ms of each other, for which sound is cut or made silent, unless sound came for longer than
/// pictures, or stopped more than 10 s before them. Sound that can't be kept is told by `eventPublisher` (`audioLost`)
/// and counted.
///
/// A `.wav` or `.flac` file holds sound alone. A WAV beyond 4 GiB becomes RF64, which most players read.
///
/// All members may be called from any thread. A recorder that is released unfinished completes its file by itself.
public final class Recorder: Sendable {
  /// How to record.
  public struct Options: Hashable, Sendable {
    /// The kind of file; nil for the one that the file's ending names.
    public var container: RecordingContainer?
    /// Whether a file that exists may be written over. Off unless asked for.
    public var overwrites = false
    /// What sound is kept in.
    public var audio: RecordingAudio = .automatic
    /// The form of sound that is appended by hand and begins after the first picture: MP4, MOV and Matroska name their
    /// tracks in front. Not needed for a stream, nor for sound that comes before the first picture.
    public var audioFormat: RecordingAudioFormat?
    /// The recording's length, by the frames' stamps; nil for no limit. Later frames are not taken.
    public var limit: Duration?
    /// How long a sample may wait for the disk before samples are dropped.
    public var queueSpan: Duration = .seconds(5)
    /// How many bytes may wait for the disk, of pictures and of sound each. One sample always may, whatever its size;
    /// what finds no room is dropped and counted.
    public var queueBytes = 64 << 20
    /// How far apart written data is forced to the disk; at most a second.
    public var syncInterval: Duration = .milliseconds(500)
    /// How long `finish` waits for the disk.
    public var finishDeadline: Duration = .seconds(10)

    /// The defaults.
    public init() {}
  }

  private let container: RecordingContainer
  private let core: RecorderCore

  /// Takes the file's name; the file itself begins with the first sync sample.
  ///
  /// - Throws: `unknownContainer`, `unsupportedAudio`, `fileExists`, `folderMissing`, `notWritable`, `diskFull`.
  public convenience init(to file: URL, options: Options = Options()) throws(RecorderError) {
    try self.init(to: file, options: options, timekeeper: SystemTimekeeper.shared)
  }

  /// - Parameter timekeeper: whose lanes write and synchronize.
  package init(to file: URL, options: Options, timekeeper: any Timekeeper) throws(RecorderError) {
    let path = file.path
    guard let container = options.container ?? RecordingContainer(pathExtension: file.pathExtension) else {
      throw .unknownContainer(path: path)
    }
    let codec = try container.audioCodec(for: options.audio)
    let isNew = try RecordingName.claim(path, overwrites: options.overwrites)
    self.container = container
    core = RecorderCore(
      path: path, container: container, codec: codec, isNew: isNew, options: options, timekeeper: timekeeper)
  }

  deinit { core.complete(nil) }

  /// Records a stream from its next sync frame on, which is asked for at once, with its sound, if it has some. The
  /// stream may start later, stop, start again and pause; the recording goes on until `finish`.
  ///
  /// - Throws: `needsCompressedVideo` for a stream of decoded frames, `needsAudio` for a file of sound alone when the
  ///   stream has none, `notRecording` when it has a stream already, and what ended the recording.
  public func record(_ stream: MWDATCamera.Stream) throws(RecorderError) {
    guard !container.isAudioOnly else {
      guard stream.streamConfiguration.audioCodec != nil else {
        throw .needsAudio(found: "a stream without sound; give it an audioCodec")
      }
      return try core.take(stream)
    }
    guard stream.streamConfiguration.videoCodec == .hvc1 else {
      throw .needsCompressedVideo(found: "decoded video; ask the stream for .hvc1")
    }
    try core.take(stream)
  }

  /// Records a sample: HEVC in NAL units behind 4-byte lengths, parameter sets in its format description (`hvc1`).
  /// Returns at once, holding on to the sample's memory until it is written.
  ///
  /// Its presentation time may be on any clock, the same for all that is appended; one that is missing, equal or
  /// earlier is moved by at most a frame, and counted. Samples belong in decoding order. Those before the first sync
  /// sample are dropped.
  ///
  /// - Returns: false when it was dropped, and the recording goes on with the next sync sample; also once the asked
  ///   length is
  ///   reached.
  /// - Throws: `needsCompressedVideo`, `unreadableSample`; `notRecording` after `finish`; and what ended the recording.
  @discardableResult
  public func append(_ sampleBuffer: CMSampleBuffer) throws(RecorderError) -> Bool {
    guard !container.isAudioOnly else { throw .needsAudio(found: "video") }
    return try core.append(sampleBuffer)
  }

  /// Records sound of one or two channels and 4,000 to 768,000 Hz. Returns at once, with a copy of the samples.
  ///
  /// The form may change from one buffer to the next; sound is converted to that of the first. Sound from before the
  /// first picture is kept for 2 s, since that may still be on its way.
  ///
  /// - Parameter presentationTime: of the first sample, on the clock of the video's; one that is invalid, infinite or
  ///   indefinite for sound that follows what came before.
  /// - Returns: false when it was dropped: there is no room, the recording has no sound, or the asked length is
  ///   reached.
  ///   What comes to have no place later is told as `RecordingEvent.Kind.audioLost`.
  /// - Throws: `unreadableSample` for another form; `notRecording` after `finish`; and what ended the recording.
  @discardableResult
  public func append(_ buffer: AVAudioPCMBuffer, at presentationTime: CMTime) throws(RecorderError) -> Bool {
    try core.append(try RecordingAudioBlock(buffer, at: presentationTime))
  }

  /// Records a frame of a stream's sound, at its time. As `append(_:at:)` with both.
  @discardableResult
  public func append(_ frame: AudioFrame) throws(RecorderError) -> Bool {
    try append(frame.pcmBuffer, at: frame.presentationTimeStamp)
  }

  /// Writes what waits, completes the file and has it reach the disk. What a stream has delivered before the call is in
  /// it, heard or not, unless the recorder is not called for half a second. Calling it again gives the same outcome.
  ///
  /// - Throws: what ended the recording; `nothingRecorded` when no frame came, and then no file is left; `stalled`
  ///   when the
  ///   disk took longer than `Options.finishDeadline`.
  public func finish() async throws(RecorderError) -> RecordingSummary { try await core.finish() }

  /// The figures now.
  public var statistics: RecordingStatistics { core.statistics }

  /// Tells what happens to the recording. Nothing is replayed; listeners are called on a thread of the recorder's.
  public var eventPublisher: any Announcer<RecordingEvent> { core.events }
}
