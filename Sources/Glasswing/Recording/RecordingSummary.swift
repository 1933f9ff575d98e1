import Foundation

/// What a recorder has done so far. In a finished recording `framesIn` is `framesWritten` plus `framesDropped`.
public struct RecordingStatistics: Codable, Hashable, Sendable {
  /// Samples handed to the recorder.
  public var framesIn = 0
  /// Samples that are in a file.
  public var framesWritten = 0
  /// Samples that are not, for any cause: before the first sync sample, no room in the queue, a failed disk.
  public var framesDropped = 0
  /// Stamps that were equal, went back or were missing, and were moved.
  public var stampRepairs = 0
  /// Bytes written to the files.
  public var bytes = 0
  /// From the first frame to the end of the last one, over all files; of the sound in files for sound alone.
  public var duration: Duration = .zero
  /// Sound that is in a file, silence in its place included. Beside pictures it is as long as `duration`, within 50
  /// ms, unless sound comes for longer than pictures, or stops more than 10 s before them.
  public var audioDuration: Duration = .zero
  /// Silence that was put where sound was missing.
  public var audioFilled: Duration = .zero
  /// Sound that should be in a file and is not, for any cause: no room in the queue, no track for it, a failed encoder
  /// or disk, or a time that already has sound.
  public var audioDropped: Duration = .zero
  /// Sound that belongs to no picture, and so is no loss: from before the first, after the end of the last, or from before
  /// the first of a further file that follows a pause of both.
  public var audioOutside: Duration = .zero
  /// How often the times of sound jumped by more than an hour, or back by 10 s or more: then sound goes on without a
  /// gap, and later times are compared with the new ones.
  public var audioRestarts = 0

  /// Nothing yet.
  public init() {}
}

/// What a finished recording is.
public struct RecordingSummary: Codable, Hashable, Sendable {
  /// The files, in order. There are several when the picture's size changed on the way.
  public let files: [URL]
  /// Their kind.
  public let container: RecordingContainer
  /// Presentation time of the first frame, in nanoseconds on the host's monotonic clock; the files count from there.
  public let firstFrameNanoseconds: Int64?
  /// The figures.
  public let statistics: RecordingStatistics
}

/// What happens to a recording while it runs. A struct with named kinds, so that later versions can add to them.
public struct RecordingEvent: Codable, Hashable, Sendable {
  /// What happened.
  public struct Kind: RawRepresentable, Codable, Hashable, Sendable {
    /// The stable name.
    public let rawValue: String
    /// Any name; those that this version sends are the static members.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The first frame is in `file`.
    public static let began = Kind(rawValue: "began")
    /// It goes on in `file`, since the picture's form changed.
    public static let continued = Kind(rawValue: "continued")
    /// The asked length is reached; nothing more is taken.
    public static let reachedLimit = Kind(rawValue: "reachedLimit")
    /// The queue was full; samples are dropped up to the next sync sample.
    public static let overflowed = Kind(rawValue: "overflowed")
    /// Sound is being lost, as `audioLoss` says: sent when that begins, not again while it lasts.
    public static let audioLost = Kind(rawValue: "audioLost")
    /// Sound is recorded again; `audioLoss` is what was lost meanwhile.
    public static let audioRegained = Kind(rawValue: "audioRegained")
    /// It is at its end, by `error`.
    public static let failed = Kind(rawValue: "failed")
  }

  /// What happened.
  public let kind: Kind
  /// The file in question, where there is one.
  public let file: URL?
  /// The cause, where there is one.
  public let error: RecorderError?
  /// The sound in question, where some is.
  public let audioLoss: RecordingAudioLoss?

  init(_ kind: Kind, file: URL? = nil, error: RecorderError? = nil, audioLoss: RecordingAudioLoss? = nil) {
    self.kind = kind
    self.file = file
    self.error = error
    self.audioLoss = audioLoss
  }
}
