import Foundation
import LinkProtocol
import LinkTransport
import MWDATCore
import Synchronization
import Units

/// An environment that says what a test tells it to, and whose links lead to scripted glasses.
final class FakeEnvironment: WearablesEnvironment {
  private struct State {
    var registration: RegistrationState
    var devices: [DeviceDescription]
    var linkError: DeviceSessionError?
    var glasses: [ScriptedGlasses] = []
    var urls: [URL] = []
    var permission: (@Sendable () async -> PermissionStatus)?
  }

  private struct Observer { weak var object: (any EnvironmentObserver)? }

  let timekeeper: any Timekeeper
  private let script: GlassesScript
  private let state: Mutex<State>
  private let observer = Mutex(Observer())

  init(
    _ timekeeper: any Timekeeper, registration: RegistrationState = .registered, devices: [DeviceDescription] = [],
    script: GlassesScript = GlassesScript()
  ) {
    self.timekeeper = timekeeper
    self.script = script
    state = Mutex(State(registration: registration, devices: devices))
  }

  // MARK: What tests set and read

  func setRegistration(_ registration: RegistrationState) {
    state.withLock { $0.registration = registration }
    observer.withLock { $0.object }?.registrationDidChange(registration)
  }

  func setDevices(_ devices: [DeviceDescription], telling: Bool = true) {
    state.withLock { $0.devices = devices }
    if telling { tell() }
  }

  /// Tells that devices changed.
  func tell() { observer.withLock { $0.object }?.devicesDidChange() }

  func change(_ identifier: DeviceIdentifier, _ change: (inout DeviceDescription) -> Void) {
    var devices = devices
    for index in devices.indices where devices[index].identifier == identifier { change(&devices[index]) }
    setDevices(devices)
  }

  func refuseLinks(with error: DeviceSessionError?) { state.withLock { $0.linkError = error } }

  func answerPermission(with answer: (@Sendable () async -> PermissionStatus)?) {
    state.withLock { $0.permission = answer }
  }

  /// The glasses at the far end of each link that was made, oldest first.
  var glasses: [ScriptedGlasses] { state.withLock { $0.glasses } }
  var handledURLs: [URL] { state.withLock { $0.urls } }

  // MARK: The environment

  var registrationState: RegistrationState { state.withLock { $0.registration } }
  var devices: [DeviceDescription] { state.withLock { $0.devices } }

  func observe(_ observer: any EnvironmentObserver) { self.observer.withLock { $0.object = observer } }

  func startRegistration() async throws(RegistrationError) {
    guard registrationState != .registered else { throw .alreadyRegistered }
    setRegistration(.registering)
    setRegistration(.registered)
  }

  func startUnregistration() async throws(UnregistrationError) {
    guard registrationState == .registered else { throw .alreadyUnregistered }
    setRegistration(.available)
  }

  func handleUrl(
    _ url: URL, onRegistrationRequest: (@Sendable (RegistrationRequest) -> Void)?
  ) async throws(WearablesHandleURLError) -> Bool {
    state.withLock { $0.urls.append(url) }
    onRegistrationRequest?(
      RegistrationRequest(
        flowID: "flow", protocolVersion: 1, continueRegistration: {}, cancelRegistration: {}))
    return true
  }

  func openFirmwareUpdate() async throws(NavigationError) { throw .notRegistered }
  func openDATGlassesAppUpdate() async throws(NavigationError) { throw .notRegistered }

  func checkPermissionStatus(_ permission: Permission) async throws(PermissionError) -> PermissionStatus { .denied }

  func requestPermission(_ permission: Permission) async throws(PermissionError) -> PermissionStatus {
    guard let answer = state.withLock({ $0.permission }) else { throw .noDevice }
    return await answer()
  }

  func openLink(to device: DeviceIdentifier) throws(DeviceSessionError) -> LinkConnection {
    if let error = state.withLock({ $0.linkError }) { throw error }
    let (app, far) = MemoryLink.makePair(timekeeper: timekeeper)
    let glasses = ScriptedGlasses(identifier: device, transport: far, timekeeper: timekeeper, script: script)
    state.withLock { $0.glasses.append(glasses) }
    glasses.begin()
    var generator = CountingGenerator()
    let hello = Hello(
      role: .app, capabilities: [.videoHEVC], identifier: "test", name: "Test", softwareVersion: "1",
      nonce: Nonce(from: &generator))
    return LinkConnection(
      endpoint: LinkEndpoint(hello: hello), transport: app, timekeeper: timekeeper, name: "link")
  }
}

extension DeviceDescription {
  /// Connected and compatible, unless told otherwise.
  static func glasses(
    _ identifier: DeviceIdentifier, name: String = "", type: DeviceType = .rayBanMeta,
    linkState: LinkState = .connected, compatibility: Compatibility = .compatible
  ) -> DeviceDescription {
    DeviceDescription(
      identifier: identifier, uuid: UUID(), name: name, type: type,
      state: DeviceState(linkState: linkState, compatibility: compatibility))
  }
}
