import Foundation
import LinkProtocol
import LinkTransport

/// What stands behind `Wearables.shared`: registration, permissions, devices and links. Nothing above it knows which
/// environment is in place.
///
/// Members may be called from any thread. Each asynchronous one ends by a deadline of the environment's own.
package protocol WearablesEnvironment: AnyObject, Sendable {
  /// What sessions on this environment's devices run on.
  var timekeeper: any Timekeeper { get }

  var registrationState: RegistrationState { get }
  func startRegistration() async throws(RegistrationError)
  func startUnregistration() async throws(UnregistrationError)

  /// Called with URLs that carry `metaWearablesAction` only.
  func handleUrl(
    _ url: URL, onRegistrationRequest: (@Sendable (RegistrationRequest) -> Void)?
  ) async throws(WearablesHandleURLError) -> Bool

  func openFirmwareUpdate() async throws(NavigationError)
  func openDATGlassesAppUpdate() async throws(NavigationError)

  func checkPermissionStatus(_ permission: Permission) async throws(PermissionError) -> PermissionStatus
  /// Not called while an earlier request runs.
  func requestPermission(_ permission: Permission) async throws(PermissionError) -> PermissionStatus

  /// The listed devices, in order, at this moment. Read often; tells the observer nothing from inside.
  var devices: [DeviceDescription] { get }

  /// Names who is told of changes; held weakly, the last one counts. The observer asks back at once, so tell it with no
  /// lock held, after the properties have their new values.
  func observe(_ observer: any EnvironmentObserver)

  /// A connection to the device, not started yet: the session starts it. Throws when the device can't be reached.
  func openLink(to device: DeviceIdentifier) throws(DeviceSessionError) -> LinkConnection
}

/// Hears what changes in an environment. Any thread; changes of one kind one after the other.
package protocol EnvironmentObserver: AnyObject, Sendable {
  func registrationDidChange(_ state: RegistrationState)
  /// The list, or the name or state of a device in it.
  func devicesDidChange()
}
