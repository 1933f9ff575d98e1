import Units

/// Sound that could not be recorded.
public struct RecordingAudioLoss: Codable, Hashable, Sendable {
  /// Why. A struct with named causes, so that later versions can add to them.
  public struct Cause: RawRepresentable, Codable, Hashable, Sendable {
    /// The stable name.
    public let rawValue: String
    /// Any name; those that this version sends are the static members.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The disk is slower than what comes: there is no room in the queue.
    public static let queueFull = Cause(rawValue: "queueFull")
    /// Sound first came after the first picture, and nobody had said that it would (`Recorder.Options.audioFormat`):
    /// MP4, MOV and Matroska name their tracks in front.
    public static let noTrack = Cause(rawValue: "noTrack")
    /// The codec takes no sound of such a form.
    public static let unsupportedForm = Cause(rawValue: "unsupportedForm")
    /// The encoder failed; the pictures go on alone.
    public static let encoderFailed = Cause(rawValue: "encoderFailed")
  }

  /// Why.
  public let cause: Cause
  /// How much so far: of this loss, not of earlier ones. What is missing beside pictures is silent in the file.
  public let duration: Duration

  init(_ cause: Cause, _ duration: Duration) {
    self.cause = cause
    self.duration = duration
  }
}

/// Counts sound that is lost, and has each loss told when it begins and when it is over, not for each buffer.
///
/// A pure state machine: its owner sends the events.
struct AudioLossWatch {
  /// The loss that lasts.
  private var present: RecordingAudioLoss?
  private(set) var total: Duration = .zero

  /// Sound was lost. The event to send; nil in the midst of a loss for the same cause.
  mutating func lost(_ duration: Duration, _ cause: RecordingAudioLoss.Cause) -> RecordingEvent? {
    total += duration
    if let present, present.cause == cause {
      self.present = RecordingAudioLoss(cause, present.duration + duration)
      return nil
    }
    let loss = RecordingAudioLoss(cause, duration)
    present = loss
    return RecordingEvent(.audioLost, audioLoss: loss)
  }

  /// Sound was taken again. The event to send; nil where none was being lost.
  mutating func took() -> RecordingEvent? { present.take().map { RecordingEvent(.audioRegained, audioLoss: $0) } }

  /// Sound that was lost without being told of: with all else, by a failed disk.
  mutating func lostWithAll(_ duration: Duration) { total += duration }
}
