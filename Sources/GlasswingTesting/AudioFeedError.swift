import Glasswing

/// Why a simulated microphone can't be given what it is to hear.
public enum AudioFeedError: GlasswingError {
  /// The file has no sound that can be played; `reason` names the file and says what is wrong with it.
  case notPlayable(path: String, reason: String)
  /// The samples were to be heard so long before now.
  case tooLate(by: Duration)
  /// More injected sound would wait for its time than may: a minute, or 6000 buffers.
  case tooMuchPending
  /// The buffer is empty, or has neither one nor two channels, or a rate that no sound has; or the time is no time.
  case notUsable

  public var name: String {
    switch self {
    case .notPlayable: "audioFeed.notPlayable"
    case .tooLate: "audioFeed.tooLate"
    case .tooMuchPending: "audioFeed.tooMuchPending"
    case .notUsable: "audioFeed.notUsable"
    }
  }

  public var code: Int {
    switch self {
    case .notPlayable: 9201
    case .tooLate: 9202
    case .tooMuchPending: 9203
    case .notUsable: 9204
    }
  }

  public var stage: ErrorStage {
    switch self {
    case .notPlayable: .open
    case .tooLate, .tooMuchPending, .notUsable: .configuration
    }
  }

  public var severity: ErrorSeverity {
    switch self {
    case .notPlayable, .tooLate, .tooMuchPending, .notUsable: .recoverable
    }
  }

  public var advice: ErrorAdvice {
    switch self {
    case .notPlayable, .notUsable: .configuration
    case .tooLate, .tooMuchPending: .retry
    }
  }

  public var message: String {
    switch self {
    case .notPlayable(_, let reason): "The sound can't be played: \(reason)"
    case .tooLate: "The time at which the samples were to be heard has passed. Inject them ahead of it."
    case .tooMuchPending: "Too much injected sound waits for its time. Inject the rest when some has been heard."
    case .notUsable: "The buffer can't be injected. It needs samples of one or two channels, and a valid time."
    }
  }
}
