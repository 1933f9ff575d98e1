import Foundation
import GlassesAgent
import LinkProtocol
import LinkTransport
import MWDATCore
import Synchronization
import Units

/// What stands behind `Wearables.shared` while the kit is enabled.
///
/// The observer is told on a lane of this environment's own, in the order of the changes, with no lock held. Nothing
/// else waits for that lane: every question is answered on the spot.
final class MockEnvironment: WearablesEnvironment {
  private struct State {
    var registration: RegistrationState
    var glasses: [SimulatedGlasses] = []
    var generator: SeededGenerator
    var observer: WeakObserver?
    /// Unpaired, with links that are still being torn down; and who waits for the last of them.
    var leaving: [SimulatedGlasses] = []
    var isOver = false
    var whenOver: [@Sendable () -> Void] = []
  }

  private struct WeakObserver {
    weak var object: (any EnvironmentObserver)?
  }

  let timekeeper: any Timekeeper
  private let permissions: PermissionStore
  private let options: MockKit.Options
  private let lane: any Lane
  private let state: Mutex<State>

  init(options: MockKit.Options, isRegistered: Bool, permissions: PermissionStore) {
    timekeeper = options.timekeeper
    self.permissions = permissions
    self.options = options
    lane = options.timekeeper.makeLane("gw-mock")
    state = Mutex(
      State(
        registration: isRegistered ? .registered : .unavailable, generator: SeededGenerator(seed: options.seed)))
  }

  func observe(_ observer: any EnvironmentObserver) { state.withLock { $0.observer = WeakObserver(object: observer) } }

  // MARK: - Registration

  var registrationState: RegistrationState { state.withLock { $0.registration } }

  func startRegistration() async throws(RegistrationError) {
    let isRegistered = state.withLock { state in
      guard state.registration != .registered else { return true }
      tellRegistration(.registering, &state)
      tellRegistration(.registered, &state)
      tellDevices()
      return false
    }
    if isRegistered { throw .alreadyRegistered }
  }

  func startUnregistration() async throws(UnregistrationError) {
    let isRegistered = state.withLock { state in
      guard state.registration == .registered else { return false }
      tellRegistration(.available, &state)
      tellDevices()
      return true
    }
    guard isRegistered else { throw .alreadyUnregistered }
  }

  /// No other app takes part in the simulation, so no URL is of use.
  func handleUrl(
    _ url: URL, onRegistrationRequest: (@Sendable (RegistrationRequest) -> Void)?
  ) async throws(WearablesHandleURLError) -> Bool { true }

  func openFirmwareUpdate() async throws(NavigationError) { try checkRegistered() }
  func openDATGlassesAppUpdate() async throws(NavigationError) { try checkRegistered() }

  private func checkRegistered() throws(NavigationError) {
    guard registrationState == .registered else { throw .notRegistered }
  }

  // MARK: - Permissions

  func checkPermissionStatus(_ permission: Permission) async throws(PermissionError) -> PermissionStatus {
    try checkConnected()
    return permissions.status(of: permission)
  }

  func requestPermission(_ permission: Permission) async throws(PermissionError) -> PermissionStatus {
    try checkConnected()
    return permissions.request(permission)
  }

  /// Permissions are read from the glasses, so some must be there.
  private func checkConnected() throws(PermissionError) {
    let devices = devices
    guard !devices.isEmpty else { throw .noDevice }
    guard devices.contains(where: { $0.state.linkState == .connected }) else { throw .noDeviceWithConnection }
  }

  // MARK: - Devices

  /// Glasses that could be reached once stay listed, connected or not, until they are unpaired.
  var devices: [DeviceDescription] {
    state.withLock { state in
      guard state.registration == .registered else { return [] }
      return state.glasses.filter { $0.agent.hardware.current.wasReachable }.map(\.description)
    }
  }

  var paired: [SimulatedGlasses] { state.withLock { $0.glasses } }

  /// Nil when this environment has ended.
  func pair(model: GlassesModel, deviceClock: DeviceClock) -> SimulatedGlasses? {
    let glasses: SimulatedGlasses? = state.withLock { state in
      guard !state.isOver else { return nil }
      let identity = makeIdentity(model, &state)
      // All that is random about these glasses comes from one seed, so that a part more does not change other glasses.
      var seeds = SeededGenerator(seed: state.generator.next())
      let agent = GlassesAgent(
        identity: identity, timekeeper: timekeeper, permissions: permissions,
        configuration: GlassesAgent.Configuration(
          foldEffect: .endsSession, deviceClock: deviceClock, nonces: .seeded(seeds),
          replaysCachedUnits: options.replaysCachedUnits, writesPictureHashes: options.writesPictureHashes,
          limits: options.limits))
      let link = LinkConditioner(timekeeper: timekeeper, seed: ~seeds.next())
      let glasses = SimulatedGlasses(agent: agent, link: link, uuid: UUID(from: &state.generator), model: model)
      state.glasses.append(glasses)
      return glasses
    }
    glasses?.agent.hardware.observe { [weak self] event in
      if case .changed(let hardware) = event, hardware.wasReachable { self?.tellDevices() }
    }
    return glasses
  }

  private func makeIdentity(_ model: GlassesModel, _ state: inout State) -> GlassesIdentity {
    let number = UInt32.random(in: .min ... .max, using: &state.generator)
    let digits = String(number, radix: 16, uppercase: true)
    let code = String(repeating: "0", count: 8 - digits.count) + digits
    return GlassesIdentity(
      identifier: "mock-\(code.lowercased())", name: "\(model.rawValue) \(code.suffix(4))", model: model.rawValue,
      softwareVersion: "simulated")
  }

  /// - Parameter completion: called when every link of the glasses is torn down, also when somebody else has unpaired
  ///   them meanwhile; at once for glasses that were never paired here.
  func unpair(_ device: any MockDevice, completion: @escaping @Sendable () -> Void) {
    let found: (glasses: SimulatedGlasses, isPaired: Bool)? = state.withLock { state in
      if let index = state.glasses.firstIndex(where: { $0.isSame(as: device) }) {
        tellDevices()
        let glasses = state.glasses.remove(at: index)
        state.leaving.append(glasses)
        return (glasses, true)
      }
      return state.leaving.first { $0.isSame(as: device) }.map { ($0, false) }
    }
    guard let (glasses, isPaired) = found else { return completion() }
    guard isPaired else { return glasses.agent.shutDown(.unpaired, completion: completion) }
    glasses.agent.shutDown(.unpaired) { [self] in
      completion()
      hasLeft(glasses)
    }
  }

  /// Unpairs all glasses, after which this environment is of no further use. May be called again, to wait.
  func unpairAll(completion: @escaping @Sendable () -> Void) {
    let glasses = state.withLock { state in
      state.isOver = true
      state.whenOver.append(completion)
      return state.glasses
    }
    for one in glasses { unpair(one) {} }
    endIfOver()
  }

  private func hasLeft(_ glasses: SimulatedGlasses) {
    state.withLock { state in state.leaving.removeAll { $0 === glasses } }
    endIfOver()
  }

  private func endIfOver() {
    let completions: [@Sendable () -> Void] = state.withLock { state in
      guard state.isOver, state.leaving.isEmpty, state.glasses.isEmpty else { return [] }
      defer { state.whenOver = [] }
      return state.whenOver
    }
    guard !completions.isEmpty else { return }
    for completion in completions { completion() }
    lane.end()
  }

  // MARK: - Links

  func openLink(to device: DeviceIdentifier) throws(DeviceSessionError) -> LinkConnection {
    let found: (SimulatedGlasses, Nonce)? = state.withLock { state in
      guard state.registration == .registered,
        let glasses = state.glasses.first(where: { $0.deviceIdentifier == device }),
        glasses.agent.hardware.current.isReachable
      else { return nil }
      return (glasses, Nonce(from: &state.generator))
    }
    guard let (glasses, nonce) = found else { throw .noEligibleDevice }
    let hello = Hello.app(Wearables.appInformation, nonce: nonce)
    let wire = MemoryLink.makePair(timekeeper: timekeeper)
    let pair = glasses.link.join(app: wire.app, glasses: wire.glasses)
    glasses.agent.accept(pair.glasses)
    return LinkConnection(
      endpoint: LinkEndpoint(hello: hello, limits: options.limits), transport: pair.app, timekeeper: timekeeper,
      name: "gw-link-app")
  }

  // MARK: - News, queued with the lock held so that they keep the order of the changes

  private func tellRegistration(_ new: RegistrationState, _ state: inout State) {
    state.registration = new
    lane.run { [weak self] in self?.observer?.registrationDidChange(new) }
  }

  private func tellDevices() {
    lane.run { [weak self] in self?.observer?.devicesDidChange() }
  }

  private var observer: (any EnvironmentObserver)? { state.withLock { $0.observer?.object } }
}

extension UUID {
  /// A version 4 UUID (RFC 9562, 5.4).
  fileprivate init(from generator: inout some RandomNumberGenerator) {
    let high = generator.next()
    let low = generator.next()
    var bytes = (0..<8).map { UInt8(truncatingIfNeeded: high >> (8 * $0)) }
    bytes += (0..<8).map { UInt8(truncatingIfNeeded: low >> (8 * $0)) }
    bytes[6] = (bytes[6] & 0x0F) | 0x40
    bytes[8] = (bytes[8] & 0x3F) | 0x80
    self.init(bytes: bytes)
  }
}
