import LinkProtocol
import MWDATCore

/// Why the glasses hold a session. Whatever the reason, only they end the pause; no part of an app's side starts
/// anything during it.
public enum PauseReason: String, Codable, Hashable, Sendable, CaseIterable {
  /// The wearer paused it, at the touchpad.
  case wearer
  /// The glasses let their heat go.
  case thermal
  /// The glasses need the camera, or their power, for something else.
  case system
}

extension DeviceSession {
  /// Why the session is `.paused`; nil in every other state. Any thread; like `state`, it is the new value when a
  /// listener hears of the pause.
  public var pauseReason: PauseReason? { linkPauseReason.map { PauseReason($0) } }
}

extension PauseReason {
  init(_ reason: SessionPaused.Reason) {
    self =
      switch reason {
      case .wearer: .wearer
      case .thermal: .thermal
      case .system: .system
      }
  }
}
