import MWDATCore

/// Why the kit could not do as asked.
public enum MockDeviceKitError: DatError, Hashable {
  /// Call `enable` first.
  case notEnabled
  /// The test server can't be started.
  case testServerUnavailable

  /// In words, for logs.
  public var description: String {
    switch self {
    case .notEnabled: "The mock device kit is not enabled"
    case .testServerUnavailable: "The test server is not available"
    }
  }
}
