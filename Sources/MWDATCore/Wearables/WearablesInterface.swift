import Foundation

/// The way to registration, permissions, devices and sessions; `Wearables.shared` is the one to use.
///
/// All members may be used from any thread. Listeners are called on a thread of the publisher's, in order, with the
/// property already at the new value.
public protocol WearablesInterface: Sendable {
  /// Whether this app is registered with the companion.
  var registrationState: RegistrationState { get }

  /// Calls `listener` with the current state first, then with each new one.
  func addRegistrationStateListener(
    _ listener: @escaping @Sendable (RegistrationState) -> Void
  ) -> any AnyListenerToken

  /// The current state first, then each new one.
  func registrationStateStream() -> AsyncStream<RegistrationState>

  /// Asks the companion to register this app; the outcome arrives as registration state.
  func startRegistration() async throws(RegistrationError)

  /// Completes what the companion answered by URL. False, and nothing done, when the URL is not one of these.
  func handleUrl(_ url: URL) async throws(WearablesHandleURLError) -> Bool

  /// As `handleUrl(_:)`; `callback` gets a registration that the user began inside the companion.
  func handleUrl(
    _ url: URL, onRegistrationRequest callback: @escaping @Sendable (RegistrationRequest) -> Void
  ) async throws(WearablesHandleURLError) -> Bool

  /// Asks the companion to undo the registration; the outcome arrives as registration state.
  func startUnregistration() async throws(UnregistrationError)

  /// Opens the companion's page for the glasses' firmware.
  func openFirmwareUpdate() async throws(NavigationError)

  /// Opens the companion's page for the software on the glasses that apps talk to.
  func openDATGlassesAppUpdate() async throws(NavigationError)

  /// The devices that this app may see.
  var devices: [DeviceIdentifier] { get }

  /// Calls `listener` with the current list first, then with each new one.
  func addDevicesListener(_ listener: @escaping @Sendable ([DeviceIdentifier]) -> Void) -> any AnyListenerToken

  /// The current list first, then each new one; a change of a device that stays listed is none.
  func devicesStream() -> AsyncStream<[DeviceIdentifier]>

  /// The device of that name, if it is listed.
  func deviceForIdentifier(_ identifier: DeviceIdentifier) -> Device?

  /// Whether the permission is given; asks nobody.
  func checkPermissionStatus(_ permission: Permission) async throws(PermissionError) -> PermissionStatus

  /// Asks the user for the permission; one request at a time.
  func requestPermission(_ permission: Permission) async throws(PermissionError) -> PermissionStatus

  /// Makes a session on the device that the selector names at this moment. One live session a device: the next can
  /// be made when the one before has stopped or is released.
  ///
  /// Throws `noEligibleDevice` when the selector names none, `sessionAlreadyExists` when the device has a session.
  func createSession(deviceSelector: any DeviceSelector) throws(DeviceSessionError) -> DeviceSession
}

extension WearablesInterface {
  public func registrationStateStream() -> AsyncStream<RegistrationState> {
    let (stream, continuation) = AsyncStream.makeStream(of: RegistrationState.self)
    let token = addRegistrationStateListener { continuation.yield($0) }
    continuation.onTermination = { _ in Self.release(token) }
    return stream
  }

  public func devicesStream() -> AsyncStream<[DeviceIdentifier]> {
    let (stream, continuation) = AsyncStream.makeStream(of: [DeviceIdentifier].self)
    let token = addDevicesListener { continuation.yield($0) }
    continuation.onTermination = { _ in Self.release(token) }
    return stream
  }

  /// Ignores `callback`.
  public func handleUrl(
    _ url: URL, onRegistrationRequest callback: @escaping @Sendable (RegistrationRequest) -> Void
  ) async throws(WearablesHandleURLError) -> Bool {
    try await handleUrl(url)
  }

  /// The token lives in the stream's termination handler and goes with it.
  private static func release(_ token: any AnyListenerToken) { withExtendedLifetime(token) {} }
}
