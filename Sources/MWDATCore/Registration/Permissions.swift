/// What an app may be allowed to use of the glasses.
public enum Permission: CaseIterable, Hashable, Sendable {
  case camera
  case microphone
}

/// Whether a permission is given. Never asked reads `denied`.
public enum PermissionStatus: Hashable, Sendable {
  case granted
  case denied
}

/// Why a permission could not be read or asked for.
public enum PermissionError: Int, DatError {
  case noDevice
  case noDeviceWithConnection
  case connectionError
  case metaAINotInstalled
  case requestInProgress
  case requestTimeout
  case internalError

  public var description: String {
    switch self {
    case .noDevice: "No glasses are paired or visible to this app. Pair a device and register the app."
    case .noDeviceWithConnection: "All paired glasses are off or out of reach. Switch one on and try again."
    case .connectionError: "The glasses did not answer. Bring them close and try again."
    case .metaAINotInstalled: "No companion was found. Install and start it, or enable the mock device kit."
    case .requestInProgress: "Another permission request is open. Wait for its answer."
    case .requestTimeout: "Nobody answered the permission request in time. Ask again."
    case .internalError: "Something failed inside. Please report it with the log."
    }
  }
}
