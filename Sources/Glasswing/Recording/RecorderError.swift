/// Why a recording can't begin or can't go on.
public enum RecorderError: GlasswingError {
  /// The file's ending names no container, and none was given.
  case unknownContainer(path: String)
  /// A file of that name is there, and `Recorder.Options.overwrites` is off.
  case fileExists(path: String)
  /// The folder that should hold the file isn't there.
  case folderMissing(path: String)
  /// The file can't be made: permissions, a read-only disk, a folder of that name. `reason` is the system's text.
  case notWritable(path: String, reason: String)
  /// The disk is full. The file plays up to there.
  case diskFull(path: String)
  /// Writing failed for another reason. The file plays up to there.
  case writeFailed(path: String, reason: String)
  /// Only compressed HEVC (`.hvc1`) can be recorded without encoding; this is something else.
  case needsCompressedVideo(found: String)
  /// A sample lacks what a file needs: bytes, parameter sets.
  case unreadableSample(reason: String)
  /// The recorder already records a stream, or is at its end.
  case notRecording
  /// It was finished before the first sync sample came; no file was left.
  case nothingRecorded(path: String)
  /// The disk didn't take the rest of the file by the deadline.
  case stalled(path: String)
  /// The container has no place for sound in such a form, or is for sound alone and none was wanted.
  case unsupportedAudio(audio: String, container: String)
  /// A file for sound alone was given something else.
  case needsAudio(found: String)

  public var name: String {
    switch self {
    case .unknownContainer: "recorder.unknownContainer"
    case .fileExists: "recorder.fileExists"
    case .folderMissing: "recorder.folderMissing"
    case .notWritable: "recorder.notWritable"
    case .diskFull: "recorder.diskFull"
    case .writeFailed: "recorder.writeFailed"
    case .needsCompressedVideo: "recorder.needsCompressedVideo"
    case .unreadableSample: "recorder.unreadableSample"
    case .notRecording: "recorder.notRecording"
    case .nothingRecorded: "recorder.nothingRecorded"
    case .stalled: "recorder.stalled"
    case .unsupportedAudio: "recorder.unsupportedAudio"
    case .needsAudio: "recorder.needsAudio"
    }
  }

  public var code: Int {
    switch self {
    case .unknownContainer: 1001
    case .fileExists: 1002
    case .folderMissing: 1003
    case .notWritable: 1004
    case .diskFull: 1005
    case .writeFailed: 1006
    case .needsCompressedVideo: 1007
    case .unreadableSample: 1008
    case .notRecording: 1009
    case .nothingRecorded: 1010
    case .stalled: 1011
    case .unsupportedAudio: 1012
    case .needsAudio: 1013
    }
  }

  public var stage: ErrorStage {
    switch self {
    case .unknownContainer, .needsCompressedVideo, .notRecording, .unsupportedAudio, .needsAudio: .configuration
    case .fileExists, .folderMissing, .notWritable: .open
    case .unreadableSample: .input
    case .diskFull, .writeFailed: .write
    case .nothingRecorded, .stalled: .finish
    }
  }

  public var severity: ErrorSeverity {
    switch self {
    case .unreadableSample, .needsCompressedVideo, .notRecording, .needsAudio: .recoverable
    case .unknownContainer, .fileExists, .folderMissing, .notWritable, .diskFull, .writeFailed, .nothingRecorded,
      .stalled, .unsupportedAudio:
      .terminal
    }
  }

  public var advice: ErrorAdvice {
    switch self {
    case .unknownContainer, .fileExists, .needsCompressedVideo, .notRecording, .unsupportedAudio, .needsAudio:
      .configuration
    case .folderMissing, .notWritable, .diskFull: .userAction
    case .unreadableSample: .wait
    case .writeFailed, .stalled, .nothingRecorded: .retry
    }
  }

  public var message: String {
    switch self {
    case .unknownContainer(let path):
      "\(path): the ending names no container; use .mp4, .mov, .mkv, .wav or .flac, or name one"
    case .fileExists(let path): "\(path): a file of that name exists"
    case .folderMissing(let path): "\(path): there is no such folder"
    case .notWritable(let path, let reason): "\(path): can't be written: \(reason)"
    case .diskFull(let path): "\(path): the disk is full; the file plays up to there"
    case .writeFailed(let path, let reason): "\(path): writing failed: \(reason); the file plays up to there"
    case .needsCompressedVideo(let found): "only .hvc1 video can be recorded as it is, and this is \(found)"
    case .unreadableSample(let reason): "a sample can't be recorded: \(reason)"
    case .notRecording: "the recorder already has a stream, or is finished"
    case .nothingRecorded(let path): "\(path): nothing came that a file can begin with"
    case .stalled(let path): "\(path): the disk didn't take the rest of the file in time"
    case .unsupportedAudio(let audio, let container): "a .\(container) file can't hold sound as \"\(audio)\""
    case .needsAudio(let found): "only sound goes into .wav and .flac files, and this is \(found)"
    }
  }
}
