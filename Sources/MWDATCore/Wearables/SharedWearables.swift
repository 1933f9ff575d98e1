import Foundation
import LinkProtocol
import Synchronization

/// What `Wearables.shared` is: the environment's answers, with listeners, devices and sessions that outlive a change
/// of environment.
package final class SharedWearables: WearablesInterface {
  private struct State {
    var tie: EnvironmentTie
    var registration: RegistrationState
    var devices: [Device] = []
    /// Each device somebody holds, listed or not, so that one identifier is one object.
    var known: [DeviceIdentifier: Weak<Device>] = [:]
    /// By device. Weak: a session nobody holds is over.
    var sessions: [DeviceIdentifier: Weak<DeviceSession>] = [:]
    var isAskingPermission = false
  }

  private let registrationLane: RelocatableLane
  private let devicesLane: RelocatableLane
  private let registrations: Broadcaster<RegistrationState>
  private let deviceLists: Broadcaster<[DeviceIdentifier]>
  private let state: Mutex<State>
  /// Held while the environment's devices are read and taken over, so that an older answer never replaces a newer one.
  /// Taken before `state` and before the environment's own locks.
  private let refreshing = Mutex<Void>(())

  package init(environment: any WearablesEnvironment) {
    registrationLane = RelocatableLane(name: "registration", timekeeper: environment.timekeeper)
    devicesLane = RelocatableLane(name: "devices", timekeeper: environment.timekeeper)
    registrations = Broadcaster(lane: registrationLane)
    deviceLists = Broadcaster(lane: devicesLane)
    let tie = EnvironmentTie(environment)
    state = Mutex(State(tie: tie, registration: environment.registrationState))
    connect(tie)
  }

  /// The environment in place.
  package var environment: any WearablesEnvironment { state.withLock { $0.tie.environment } }

  // MARK: Registration

  /// The environment's present answer: what listeners hear or are about to.
  package var registrationState: RegistrationState { environment.registrationState }

  package func addRegistrationStateListener(
    _ listener: @escaping @Sendable (RegistrationState) -> Void
  ) -> any AnyListenerToken {
    state.withLock { registrations.listen(replaying: $0.registration, listener) }
  }

  package func startRegistration() async throws(RegistrationError) { try await environment.startRegistration() }

  package func startUnregistration() async throws(UnregistrationError) {
    try await environment.startUnregistration()
  }

  package func handleUrl(_ url: URL) async throws(WearablesHandleURLError) -> Bool {
    guard Self.isOurs(url) else { return false }
    return try await environment.handleUrl(url, onRegistrationRequest: nil)
  }

  package func handleUrl(
    _ url: URL, onRegistrationRequest callback: @escaping @Sendable (RegistrationRequest) -> Void
  ) async throws(WearablesHandleURLError) -> Bool {
    guard Self.isOurs(url) else { return false }
    return try await environment.handleUrl(url, onRegistrationRequest: callback)
  }

  package func openFirmwareUpdate() async throws(NavigationError) { try await environment.openFirmwareUpdate() }

  package func openDATGlassesAppUpdate() async throws(NavigationError) {
    try await environment.openDATGlassesAppUpdate()
  }

  private static func isOurs(_ url: URL) -> Bool {
    let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
    return items.contains { $0.name == "metaWearablesAction" }
  }

  // MARK: Permissions

  package func checkPermissionStatus(_ permission: Permission) async throws(PermissionError) -> PermissionStatus {
    try await environment.checkPermissionStatus(permission)
  }

  package func requestPermission(_ permission: Permission) async throws(PermissionError) -> PermissionStatus {
    let isFree = state.withLock { state in
      defer { state.isAskingPermission = true }
      return !state.isAskingPermission
    }
    guard isFree else { throw .requestInProgress }
    defer { state.withLock { $0.isAskingPermission = false } }
    return try await environment.requestPermission(permission)
  }

  // MARK: Devices

  package var devices: [DeviceIdentifier] {
    refreshDevices()
    return state.withLock { $0.devices.map(\.identifier) }
  }

  package func addDevicesListener(
    _ listener: @escaping @Sendable ([DeviceIdentifier]) -> Void
  ) -> any AnyListenerToken {
    refreshDevices()
    return state.withLock { deviceLists.listen(replaying: $0.devices.map(\.identifier), listener) }
  }

  package func deviceForIdentifier(_ identifier: DeviceIdentifier) -> Device? {
    refreshDevices()
    return state.withLock { state in state.devices.first { $0.identifier == identifier } }
  }

  /// Takes over the environment's devices as they are now. Its news come when it gets to telling them; whoever asks
  /// wants the present.
  func refreshDevices() {
    var dropped: [Device] = []
    let listChanged = refreshing.withLock { _ in
      // The environment answers with no lock of `state` held, since it may need locks of its own.
      let tie = state.withLock { $0.tie }
      let descriptions = tie.environment.devices
      return state.withLock { state in
        guard state.tie === tie else { return false }
        dropped = state.devices
        return take(descriptions, tie.environment.timekeeper, &state)
      }
    }
    if listChanged { NotificationCenter.default.post(name: NSNotification.wearablesDevicesChanged, object: nil) }
    withExtendedLifetime(dropped) {}
  }

  // MARK: Sessions

  package func createSession(deviceSelector: any DeviceSelector) throws(DeviceSessionError) -> DeviceSession {
    guard let identifier = deviceSelector.activeDevice else { throw .noEligibleDevice }
    let (session, present): (DeviceSession?, DeviceSession?) = state.withLock { state in
      let present = state.sessions[identifier]?.object
      if let present, present.state != .stopped { return (nil, present) }
      let session = DeviceSession(deviceId: identifier, wearables: self, environment: state.tie.environment)
      state.sessions = state.sessions.filter { $0.value.object != nil }
      state.sessions[identifier] = Weak(session)
      return (session, present)
    }
    // Released here if this was the last reference: its listeners' closures are the app's, and may come back.
    withExtendedLifetime(present) {}
    guard let session else { throw .sessionAlreadyExists }
    NotificationCenter.default.post(name: .mwdatDeviceSessionCreated, object: session)
    return session
  }

  // MARK: Environments

  /// Puts another environment in place; with `insteadOf`, only if that one is in place now.
  package func use(_ environment: any WearablesEnvironment, insteadOf present: (any WearablesEnvironment)? = nil) {
    let tie = EnvironmentTie(environment)
    let old: (EnvironmentTie, [DeviceIdentifier: Weak<DeviceSession>])? = state.withLock { state in
      if let present, state.tie.environment !== present { return nil }
      let old = (state.tie, state.sessions)
      state.tie = tie
      // A session of the old environment, still ending perhaps, says nothing of the new one's devices.
      state.sessions = [:]
      registrationLane.move(to: environment.timekeeper)
      devicesLane.move(to: environment.timekeeper)
      for device in state.known.values { device.object?.move(to: environment.timekeeper) }
      return old
    }
    guard let old else { return }
    connect(tie)
    withExtendedLifetime(old) {}
  }

  private func connect(_ tie: EnvironmentTie) {
    tie.wearables.withLock { $0.object = self }
    tie.environment.observe(tie)
    registrationChanged(to: tie.environment.registrationState, in: tie)
    devicesChanged(in: tie)
  }

  fileprivate func registrationChanged(to new: RegistrationState, in tie: EnvironmentTie) {
    let changed = state.withLock { state in
      guard state.tie === tie, state.registration != new else { return false }
      state.registration = new
      registrations.send(new)
      return true
    }
    if changed { NotificationCenter.default.post(name: NSNotification.wearablesRegistrationStateChanged, object: nil) }
  }

  fileprivate func devicesChanged(in tie: EnvironmentTie) {
    if state.withLock({ $0.tie === tie }) { refreshDevices() }
  }

  /// With the lock held. True when the list is another.
  private func take(
    _ descriptions: [DeviceDescription], _ timekeeper: any Timekeeper, _ state: inout State
  ) -> Bool {
    let before = state.devices
    var listed: [DeviceIdentifier: Device] = [:]
    var devices: [Device] = []
    for description in descriptions where listed[description.identifier] == nil {
      let device =
        state.known[description.identifier]?.object ?? Device(description, owner: self, timekeeper: timekeeper)
      device.update(description)
      listed[description.identifier] = device
      devices.append(device)
    }
    for device in before where listed[device.identifier] == nil { device.leave() }
    state.devices = devices
    state.known = state.known.filter { $0.value.object != nil }
    for device in devices { state.known[device.identifier] = Weak(device) }
    let identifiers = devices.map(\.identifier)
    guard identifiers != before.map(\.identifier) else { return false }
    deviceLists.send(identifiers)
    return true
  }
}

/// One environment's connection to `SharedWearables`, so that news from one that was replaced count no more.
private final class EnvironmentTie: EnvironmentObserver {
  let environment: any WearablesEnvironment
  let wearables = Mutex(Weak<SharedWearables>(nil))

  init(_ environment: any WearablesEnvironment) { self.environment = environment }

  func registrationDidChange(_ state: RegistrationState) {
    wearables.withLock { $0.object }?.registrationChanged(to: state, in: self)
  }

  func devicesDidChange() {
    wearables.withLock { $0.object }?.devicesChanged(in: self)
  }
}

struct Weak<Object: AnyObject> {
  weak var object: Object?
  init(_ object: Object?) { self.object = object }
}

extension Weak: Sendable where Object: Sendable {}
