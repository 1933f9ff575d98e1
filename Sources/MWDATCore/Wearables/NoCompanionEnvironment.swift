import Foundation
import LinkProtocol
import LinkTransport

/// The environment of a process with neither companion nor mock: nothing is registered, no device is listed, and each
/// question is answered at once with what is missing.
package final class NoCompanionEnvironment: WearablesEnvironment {
  package let timekeeper: any Timekeeper

  package init(timekeeper: any Timekeeper = SystemTimekeeper.shared) { self.timekeeper = timekeeper }

  package var registrationState: RegistrationState { .unavailable }
  package var devices: [DeviceDescription] { [] }

  package func startRegistration() async throws(RegistrationError) { throw .metaAINotInstalled }
  package func startUnregistration() async throws(UnregistrationError) { throw .metaAINotInstalled }

  package func handleUrl(
    _ url: URL, onRegistrationRequest: (@Sendable (RegistrationRequest) -> Void)?
  ) async throws(WearablesHandleURLError) -> Bool {
    throw .registrationError
  }

  package func openFirmwareUpdate() async throws(NavigationError) { throw .metaAINotInstalled }
  package func openDATGlassesAppUpdate() async throws(NavigationError) { throw .metaAINotInstalled }

  package func checkPermissionStatus(_ permission: Permission) async throws(PermissionError) -> PermissionStatus {
    throw .metaAINotInstalled
  }

  package func requestPermission(_ permission: Permission) async throws(PermissionError) -> PermissionStatus {
    throw .metaAINotInstalled
  }

  /// Nothing here ever changes.
  package func observe(_ observer: any EnvironmentObserver) {}

  package func openLink(to device: DeviceIdentifier) throws(DeviceSessionError) -> LinkConnection {
    throw .noEligibleDevice
  }
}
