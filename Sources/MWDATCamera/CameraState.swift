/// Where a camera stands. A camera is attached to its session when an app gets it, so it begins `.started`.
@frozen
public enum CameraState: Hashable, Sendable {
  /// Kept for clients' switches; no camera is in it.
  case starting
  case started
  case stopping
  /// Detached from its session for good. A new one can be added.
  case stopped
}
