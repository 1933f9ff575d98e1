import Foundation
import Glasswing
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// A session with a camera, by hand, and all that goes wrong with them.
struct ErrorScene {
  let glasses: SimulatedGlasses
  let clock: ManualTimekeeper
  let session: DeviceSession
  let camera: Camera

  static let usual = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)

  /// What is met when something is done to a camera that has been added: announced by session, stream and photos, and
  /// thrown by what the body does.
  static func met(
    _ configuration: StreamConfiguration = usual, _ body: (ErrorScene) async throws -> Void
  ) async throws -> [ErrorFacts] {
    let heard = Observed<ErrorFacts>()
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let camera = try #require(try session.addCamera(config: configuration))
      let tokens = ListenerTokenBag()
      session.errorPublisher.listen { heard.record($0.facts) }.store(in: tokens)
      camera.stream.errorPublisher.listen { heard.record($0.facts) }.store(in: tokens)
      camera.photo.errorPublisher.listen { heard.record($0.facts) }.store(in: tokens)
      let scene = ErrorScene(glasses: glasses, clock: clock, session: session, camera: camera)
      for thrown in await errors({ try await body(scene) }) { heard.record(thrown) }
      await scene.pass(.milliseconds(400))
      tokens.clear()
      session.stop()
      clock.advance(by: .seconds(1))
    }
    return heard.values
  }

  /// As `met`, of a stream that is streaming.
  static func streaming(_ body: (ErrorScene) async throws -> Void) async throws -> [ErrorFacts] {
    try await met { scene in
      scene.camera.stream.start()
      await scene.pass(.milliseconds(600))
      #expect(scene.camera.stream.state == .streaming)
      try await body(scene)
    }
  }

  /// As `met`, where photos are started.
  static func photographing(_ body: (ErrorScene) async throws -> Void) async throws -> [ErrorFacts] {
    try await met { scene in
      let states = Observed<PhotoState>()
      let token = scene.camera.photo.statePublisher.listen { states.record($0) }
      scene.camera.photo.start()
      await scene.pass(.milliseconds(400))
      #expect(states.values == [.starting, .started])
      await token.cancel()
      try await body(scene)
    }
  }

  /// What a session announces that does not start: of glasses that do wrong, or that speak another version.
  static func startErrors(
    version: ProtocolVersion? = nil, _ spoil: (SimulatedGlasses) -> Void = { _ in }
  ) async throws -> [ErrorFacts] {
    let heard = Observed<ErrorFacts>()
    try await withGlassesByHand { glasses, clock in
      let world = try version.map { version in
        OtherVersion(try #require(Wearables.sharedIfConfigured).environment, version)
      }
      if let world { Wearables.install(world) }
      spoil(glasses)
      let selector = SpecificDeviceSelector(device: glasses.deviceIdentifier)
      let session = try Wearables.shared.createSession(deviceSelector: selector)
      let token = session.errorPublisher.listen { heard.record($0.facts) }
      try session.start()
      clock.walk(.seconds(12), until: { session.state == .stopped })
      clock.walk(.milliseconds(100))
      #expect(session.state == .stopped)
      await token.cancel()
      if let world { Wearables.uninstall(world) }
    }
    return heard.values
  }

  /// Time goes by, and what was asked of other tasks is done meanwhile.
  func pass(_ length: Duration) async {
    let end = clock.now + length
    while clock.now < end {
      clock.advance(by: .milliseconds(20))
      await Task.yield()
    }
  }
}

/// The kit's world, but for glasses whose link protocol has another version.
private final class OtherVersion: WearablesEnvironment {
  private let world: any WearablesEnvironment
  private let glasses: Hello

  init(_ world: any WearablesEnvironment, _ version: ProtocolVersion) {
    self.world = world
    glasses = Hello(
      version: version, role: .glasses, capabilities: [.videoHEVC], identifier: "glasses", name: "Glasses",
      softwareVersion: "9", nonce: Nonce())
  }

  var timekeeper: any Timekeeper { world.timekeeper }
  var registrationState: RegistrationState { world.registrationState }
  var devices: [DeviceDescription] { world.devices }
  func observe(_ observer: any EnvironmentObserver) {}

  func startRegistration() async throws(RegistrationError) { try await world.startRegistration() }
  func startUnregistration() async throws(UnregistrationError) { try await world.startUnregistration() }

  func handleUrl(
    _ url: URL, onRegistrationRequest: (@Sendable (RegistrationRequest) -> Void)?
  ) async throws(WearablesHandleURLError) -> Bool {
    try await world.handleUrl(url, onRegistrationRequest: onRegistrationRequest)
  }

  func openFirmwareUpdate() async throws(NavigationError) { try await world.openFirmwareUpdate() }
  func openDATGlassesAppUpdate() async throws(NavigationError) { try await world.openDATGlassesAppUpdate() }

  func checkPermissionStatus(_ permission: Permission) async throws(PermissionError) -> PermissionStatus {
    try await world.checkPermissionStatus(permission)
  }

  func requestPermission(_ permission: Permission) async throws(PermissionError) -> PermissionStatus {
    try await world.requestPermission(permission)
  }

  func openLink(to device: DeviceIdentifier) throws(DeviceSessionError) -> LinkConnection {
    let wire = MemoryLink.makePair(timekeeper: timekeeper)
    let peer = LinkConnection(
      endpoint: LinkEndpoint(hello: glasses), transport: wire.glasses, timekeeper: timekeeper, name: "other version")
    // Held by its own handler until the link is over.
    peer.start { _ in withExtendedLifetime(peer) {} }
    let app = Hello(
      role: .app, capabilities: [.videoHEVC], identifier: "app", name: "App", softwareVersion: "1", nonce: Nonce())
    return LinkConnection(
      endpoint: LinkEndpoint(hello: app), transport: wire.app, timekeeper: timekeeper, name: "gw-link-app")
  }
}
