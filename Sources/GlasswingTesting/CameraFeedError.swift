import Glasswing

/// Why a file can't be what a simulated camera sees.
public enum CameraFeedError: GlasswingError {
  /// The file can't be played; `reason` names the file and says what is wrong with it.
  case notPlayable(path: String, reason: String)

  public var name: String {
    switch self {
    case .notPlayable: "cameraFeed.notPlayable"
    }
  }

  public var code: Int {
    switch self {
    case .notPlayable: 9001
    }
  }

  public var stage: ErrorStage {
    switch self {
    case .notPlayable: .open
    }
  }

  public var severity: ErrorSeverity {
    switch self {
    case .notPlayable: .recoverable
    }
  }

  public var advice: ErrorAdvice {
    switch self {
    case .notPlayable: .configuration
    }
  }

  public var message: String {
    switch self {
    case .notPlayable(_, let reason): "The camera feed can't be played: \(reason)"
    }
  }
}
