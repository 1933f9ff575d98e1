/// Whether this app is registered with the companion.
@frozen public enum RegistrationState: Int, Hashable, Sendable {
  /// No companion answers, so nothing can be registered.
  case unavailable = 0
  /// Registration can be started.
  case available = 1
  /// A registration or its undoing is under way.
  case registering = 2
  /// The app may see and use devices.
  case registered = 3

  /// The state in a word, for logs.
  public var description: String {
    switch self {
    case .unavailable: "Unavailable"
    case .available: "Available"
    case .registering: "Registering"
    case .registered: "Registered"
    }
  }
}
