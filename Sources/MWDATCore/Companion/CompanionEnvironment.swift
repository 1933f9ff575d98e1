import Foundation
import LinkProtocol
import LinkTransport
import Synchronization
import Trust

/// The environment of real glasses: what the companion of this user knows of them, and links to them over the network.
///
/// Without a companion nothing is registered, no device is listed, and each question is answered at once with what is
/// missing. The companion certifies every app of its user, so an app is registered unless it has unregistered itself.
package final class CompanionEnvironment: WearablesEnvironment {
  private struct State {
    weak var observer: (any EnvironmentObserver)?
    var hasStarted = false
    /// The app has taken back its registration, for as long as it runs.
    var isUnregistered = false
    var told = RegistrationState.unavailable
  }

  package let timekeeper: any Timekeeper
  package let client: CompanionClient
  private let news: News
  private let hasCompanion: Bool
  private let limits: LinkLimits
  private let state = Mutex(State())

  /// - Parameter dial: a connection to the companion; gives nil while there is none. Without it there never is one.
  package init(
    timekeeper: any Timekeeper = SystemTimekeeper.shared, limits: LinkLimits = LinkLimits(),
    dial: (@Sendable () -> (any ByteTransport)?)?
  ) {
    self.timekeeper = timekeeper
    self.limits = limits
    hasCompanion = dial != nil
    let news = News()
    self.news = news
    client = CompanionClient(
      timekeeper: timekeeper, dial: dial ?? { nil },
      hello: { .app(Wearables.appInformation, purpose: .control) }, changed: { news.environment?.tell() })
    news.environment = self
  }

  deinit { client.end() }

  /// The companion at its socket, where there is one.
  package static func dialer(_ folder: CompanionFolder = .present()) -> @Sendable () -> (any ByteTransport)? {
    {
      // A process without a companion looks every other second: that costs no connection.
      FileManager.default.fileExists(atPath: folder.socket) ? UnixTransport(to: folder.socket) : nil
    }
  }

  // MARK: - Registration

  package var registrationState: RegistrationState {
    guard client.isRemembered else { return .unavailable }
    return state.withLock { $0.isUnregistered } ? .available : .registered
  }

  package func startRegistration() async throws(RegistrationError) {
    switch registrationState {
    case .unavailable: throw .metaAINotInstalled
    case .registered: throw .alreadyRegistered
    case .available, .registering: setUnregistered(false)
    }
  }

  package func startUnregistration() async throws(UnregistrationError) {
    switch registrationState {
    case .unavailable: throw .metaAINotInstalled
    case .available, .registering: throw .alreadyUnregistered
    case .registered: setUnregistered(true)
    }
  }

  private func setUnregistered(_ isUnregistered: Bool) {
    state.withLock { $0.isUnregistered = isUnregistered }
    tell()
  }

  /// The companion sends no URLs.
  package func handleUrl(
    _ url: URL, onRegistrationRequest: (@Sendable (RegistrationRequest) -> Void)?
  ) async throws(WearablesHandleURLError) -> Bool {
    throw .registrationError
  }

  package func openFirmwareUpdate() async throws(NavigationError) { throw .metaAINotInstalled }
  package func openDATGlassesAppUpdate() async throws(NavigationError) { throw .metaAINotInstalled }

  // MARK: - Permissions

  package func checkPermissionStatus(_ permission: Permission) async throws(PermissionError) -> PermissionStatus {
    try permissionStatus()
  }

  package func requestPermission(_ permission: Permission) async throws(PermissionError) -> PermissionStatus {
    try permissionStatus()
  }

  /// Glasses do for their host's apps what those ask.
  private func permissionStatus() throws(PermissionError) -> PermissionStatus {
    guard client.isRemembered else { throw .metaAINotInstalled }
    let devices = devices
    guard !devices.isEmpty else { throw .noDevice }
    guard devices.contains(where: { $0.state.linkState == .connected }) else { throw .noDeviceWithConnection }
    return .granted
  }

  // MARK: - Devices

  package var devices: [DeviceDescription] {
    guard registrationState == .registered else { return [] }
    let isAdmitted = client.identity != nil
    return client.listings.map { DeviceDescription($0, isAdmitted: isAdmitted) }
  }

  package func observe(_ observer: any EnvironmentObserver) {
    let starts = state.withLock { state in
      state.observer = observer
      defer { state.hasStarted = true }
      return !state.hasStarted
    }
    if starts, hasCompanion { client.start() }
  }

  fileprivate func tell() {
    let now = registrationState
    let (observer, isNew) = state.withLock { state in
      defer { state.told = now }
      return (state.observer, state.told != now)
    }
    if isNew { observer?.registrationDidChange(now) }
    observer?.devicesDidChange()
  }

  // MARK: - Links

  package func openLink(to device: DeviceIdentifier) throws(DeviceSessionError) -> LinkConnection {
    guard let identity = client.identity, let listing = listing(of: device), listing.presence == .connected,
      let pin = KeyPin(bytes: listing.pin)
    else { throw .noEligibleDevice }
    let transport = ResumableDialer.stream(timekeeper: timekeeper) { [weak self, timekeeper] in
      // Where the glasses are by now: they may have moved since the session began.
      let present = self?.listing(of: device) ?? listing
      return SecureTransport.dialing(
        over: TCPTransport(places: present.addresses, port: present.port),
        TLSConfiguration(.client(identity, agent: pin)), timekeeper: timekeeper)
    }
    return LinkConnection(
      endpoint: LinkEndpoint(hello: .app(Wearables.appInformation), limits: limits), transport: transport,
      timekeeper: timekeeper, name: "gw-link-app")
  }

  private func listing(of device: DeviceIdentifier) -> GlassesListing? {
    client.listings.first { $0.identifier == device }
  }
}

/// Carries the client's news to an environment that is not there yet when the client is made.
private final class News: Sendable {
  private let target = Mutex(Weak<CompanionEnvironment>(nil))

  var environment: CompanionEnvironment? {
    get { target.withLock { $0.object } }
    set { target.withLock { $0 = Weak(newValue) } }
  }
}
