/// How the world looks when the kit is enabled.
@frozen
public struct MockDeviceKitConfig: Sendable {
  /// Whether the app is registered at once. If not, registration is unavailable until `startRegistration()`.
  public let initiallyRegistered: Bool
  /// Whether every permission is granted at once. Never true of an app that isn't registered.
  public let initialPermissionsGranted: Bool

  /// - Parameters:
  ///   - initiallyRegistered: whether the app is registered at once.
  ///   - initialPermissionsGranted: whether every permission is granted at once; taken as false if not registered.
  public init(initiallyRegistered: Bool = true, initialPermissionsGranted: Bool = true) {
    self.initiallyRegistered = initiallyRegistered
    self.initialPermissionsGranted = initiallyRegistered && initialPermissionsGranted
  }
}
