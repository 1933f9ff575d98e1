import Foundation
import LinkProtocol
import LinkTransport
import MWDATCore
import Synchronization
import Units

/// An environment with one pair of glasses, "A", whose links lead to scripted ones.
final class CameraEnvironment: WearablesEnvironment {
  private struct State {
    var devices: [DeviceDescription]
    var permission: Result<PermissionStatus, PermissionError> = .success(.granted)
    var microphone: Result<PermissionStatus, PermissionError> = .success(.granted)
    var checks: [Permission] = []
    var glasses: [ScriptedGlasses] = []
  }

  private struct Observer { weak var object: (any EnvironmentObserver)? }

  static let device = "A"

  let timekeeper: any Timekeeper
  private let state: Mutex<State>
  private let observer = Mutex(Observer())

  init(_ timekeeper: any Timekeeper) {
    self.timekeeper = timekeeper
    let glasses = DeviceDescription(
      identifier: Self.device, uuid: UUID(), name: "Scripted", type: .rayBanMeta,
      state: DeviceState(linkState: .connected, compatibility: .compatible))
    state = Mutex(State(devices: [glasses]))
  }

  var glasses: [ScriptedGlasses] { state.withLock { $0.glasses } }
  var permissionChecks: Int { permissionsAsked.count }
  /// What was asked about, in order.
  var permissionsAsked: [Permission] { state.withLock { $0.checks } }

  func setPermission(_ permission: Result<PermissionStatus, PermissionError>) {
    state.withLock { $0.permission = permission }
  }

  func setMicrophonePermission(_ permission: Result<PermissionStatus, PermissionError>) {
    state.withLock { $0.microphone = permission }
  }

  func setDevices(_ change: (inout [DeviceDescription]) -> Void) {
    state.withLock { change(&$0.devices) }
    observer.withLock { $0.object }?.devicesDidChange()
  }

  var devices: [DeviceDescription] { state.withLock { $0.devices } }

  func checkPermissionStatus(_ permission: Permission) async throws(PermissionError) -> PermissionStatus {
    let answer = state.withLock { state in
      state.checks.append(permission)
      return permission == .camera ? state.permission : state.microphone
    }
    return try answer.get()
  }

  func openLink(to device: DeviceIdentifier) throws(DeviceSessionError) -> LinkConnection {
    let (app, far) = MemoryLink.makePair(timekeeper: timekeeper)
    let glasses = ScriptedGlasses(identifier: device, transport: far, timekeeper: timekeeper)
    state.withLock { $0.glasses.append(glasses) }
    return LinkConnection(
      endpoint: LinkEndpoint(
        hello: Hello(
          role: .app, capabilities: [.videoHEVC], identifier: "test", name: "Test", softwareVersion: "1",
          nonce: .ofTests)),
      transport: app, timekeeper: timekeeper, name: "link")
  }

  func observe(_ observer: any EnvironmentObserver) { self.observer.withLock { $0.object = observer } }

  // Not used by a camera.
  var registrationState: RegistrationState { .registered }
  func startRegistration() async throws(RegistrationError) { throw .alreadyRegistered }
  func startUnregistration() async throws(UnregistrationError) { throw .unknown }
  func handleUrl(
    _ url: URL, onRegistrationRequest: (@Sendable (RegistrationRequest) -> Void)?
  ) async throws(WearablesHandleURLError) -> Bool { false }
  func openFirmwareUpdate() async throws(NavigationError) { throw .notRegistered }
  func openDATGlassesAppUpdate() async throws(NavigationError) { throw .notRegistered }
  func requestPermission(_ permission: Permission) async throws(PermissionError) -> PermissionStatus { .granted }
}
