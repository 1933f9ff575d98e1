/// Where a session stands.
@frozen public enum DeviceSessionState: Hashable, Sendable {
  /// Made, not started.
  case idle
  /// Waiting for the glasses' answer.
  case starting
  /// Capabilities can be attached and work.
  case started
  /// The glasses hold the session; only they resume it. No media meanwhile.
  case paused
  /// Capabilities are ending.
  case stopping
  /// Over; a session is not started twice.
  case stopped

  /// The state in a word, for logs.
  public var description: String {
    switch self {
    case .idle: "Idle"
    case .starting: "Starting"
    case .started: "Started"
    case .paused: "Paused"
    case .stopping: "Stopping"
    case .stopped: "Stopped"
    }
  }
}
