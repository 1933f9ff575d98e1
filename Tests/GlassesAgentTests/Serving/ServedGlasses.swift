import Foundation
import LinkProtocol
import LinkTransport
import Synchronization
import TestSupport
import Testing
import Trust
import Units

@testable import GlassesAgent

/// Glasses with a folder of their own, served on loopback.
final class ServedGlasses: Sendable {
  let folder: String
  let home: GlassesHome
  let agent: GlassesAgent
  let server: GlassesServer
  let control: ControlService
  let events = Observed<GlassesServer.Event>()

  /// - Parameter hosts: with which the glasses are paired already.
  init(pairedWith hosts: [HostParty] = []) throws {
    folder = try Self.newFolder()
    var paired = PairedHosts()
    for host in hosts {
      #expect(paired.add(try #require(PairedHosts.Host(name: host.name, key: host.key.publicKey))))
    }
    try StoreFile<PairedHosts>("\(folder)/hosts.json").save(paired)
    home = try GlassesHome(folder, name: "Lab")
    agent = GlassesAgent(
      identity: GlassesIdentity(
        identifier: home.me.identifier.text, name: home.me.name, model: "Model", softwareVersion: "1"),
      timekeeper: SystemTimekeeper.shared, permissions: ListedPermissions(["app"]))
    agent.hardware.powerOn()
    agent.hardware.unfold()
    agent.hardware.don()
    server = try GlassesServer(agent, home, listen: HostPort(host: "127.0.0.1", port: 0))
    control = ControlService(server)
    try server.start { [events] in events.record($0) }
    try control.start()
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  static func newFolder() throws -> String {
    let path = FileManager.default.temporaryDirectory.appending(path: "gw-\(UUID().uuidString.prefix(8))").path
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return path
  }

  /// The hosts that the disk knows.
  func storedHosts() throws -> [PairedHosts.Host] {
    try StoreFile<PairedHosts>("\(folder)/hosts.json").load().content.hosts
  }

  /// The words of pairings that came to nothing, so far.
  static func failedPairings(_ events: [GlassesServer.Event]) -> [String] {
    events.compactMap { if case .pairingFailed(let words) = $0 { words } else { nil } }
  }

  /// Why peers were turned away, so far.
  static func turnedAway(_ events: [GlassesServer.Event]) -> [String] {
    events.compactMap { if case .turnedAway(_, let words) = $0 { words } else { nil } }
  }

  /// Links that were open and have ended, for causes of this kind.
  static func closedLinks(
    _ events: [GlassesServer.Event], _ isCounted: (LinkClose.Cause) -> Bool = { _ in true }
  ) -> Int {
    events.count { if case .agent(.linkClosed(_, let close)) = $0 { isCounted(close.cause) } else { false } }
  }
}

/// A host: its key, and certificates by it.
struct HostParty {
  let name: String
  let key: SigningKey
  let identity: TLSIdentity

  init(_ name: String = "desk") throws {
    self.name = name
    key = try SigningKey()
    identity = try #require(TLSIdentity(key: key, certificate: Certificate.selfSigned(key, as: .host)))
  }

  func app(_ identifier: String) throws -> TLSIdentity {
    let key = try SigningKey()
    let certificate = try Certificate.app(identifier, key: key.publicKey, signedBy: self.key, validity: .unlimited)
    return try #require(TLSIdentity(key: key, certificate: certificate))
  }
}

/// A connection that tells its owner only when it is let go on that it is up.
final class HeldTransport: ByteTransport {
  private let inner: any ByteTransport
  private let isHeld: Mutex<Bool>
  private let handlers = Mutex<TransportHandlers?>(nil)
  /// Each time it could have gone on.
  let ready = Observed<Bool>()

  init(_ inner: any ByteTransport, isHeld: Bool) {
    self.inner = inner
    self.isHeld = Mutex(isHeld)
  }

  func letGo() {
    isHeld.withLock { $0 = false }
    handlers.withLock { $0 }?.writable()
  }

  func open(_ handlers: TransportHandlers) {
    self.handlers.withLock { $0 = handlers }
    inner.open(
      TransportHandlers(
        received: handlers.received,
        writable: { [self] in
          if !isHeld.withLock({ $0 }) { handlers.writable() }
          ready.record(true)
        }, closed: handlers.closed))
  }

  func write(_ bytes: [UInt8]) { inner.write(bytes) }
  var writableBytes: Int { isHeld.withLock { $0 } ? 0 : inner.writableBytes }
  func consumed(_ byteCount: Int) { inner.consumed(byteCount) }
  func close() { inner.close() }
}

/// Whether the network is there.
private final class HasWay: Sendable {
  private let state = Mutex(true)

  var isOpen: Bool { state.withLock { $0 } }
  func close() { state.withLock { $0 = false } }
}

/// A link to served glasses, by TLS and with a stream that outlives connections.
final class Caller: Sendable {
  let link: LinkConnection
  let events = Observed<LinkEvent>()
  let dialed = Observed<HeldTransport>()
  let sockets = Observed<TCPTransport>()
  private let hasWay: HasWay

  init(_ glasses: ServedGlasses, as identity: TLSIdentity, _ hello: Hello, isHeld: Bool = false) {
    let timekeeper = SystemTimekeeper.shared
    let configuration = TLSConfiguration(.client(identity, agent: glasses.home.key.pin))
    let (hasWay, addresses) = (HasWay(), glasses.server.addresses)
    self.hasWay = hasWay
    link = LinkConnection(
      endpoint: LinkEndpoint(hello: hello),
      transport: ResumableDialer.stream(timekeeper: timekeeper) { [dialed, sockets] in
        let socket = TCPTransport(to: hasWay.isOpen ? addresses : [])
        let held = HeldTransport(
          SecureTransport.dialing(over: socket, configuration, timekeeper: timekeeper), isHeld: isHeld)
        sockets.record(socket)
        dialed.record(held)
        return held
      }, timekeeper: timekeeper, name: "caller")
    link.start { [events] in events.record($0) }
  }

  deinit { link.close(Goodbye(reason: .finished)) }

  /// Breaks the connection, and finds no other.
  func lose() {
    hasWay.close()
    for socket in sockets.values { socket.close() }
  }

  func opened() async throws {
    try await events.wait("the link") { events in
      events.contains { if case .opened = $0 { true } else { false } }
    }
  }

  /// The goodbye that ended the link; nil when something else has.
  func goodbye() async throws -> Goodbye? {
    try await events.wait("the link's end") { if case .closed = $0.last { true } else { false } }
    guard case .closed(let close) = events.values.last, case .goodbye(let goodbye) = close.cause else { return nil }
    return goodbye
  }

  var hasOpened: Bool { events.values.contains { if case .opened = $0 { true } else { false } } }
}

extension Hello {
  static func calling(_ role: LinkRole, _ purpose: LinkPurpose = .media, identifier: String = "app") -> Hello {
    Hello(
      role: role, purpose: purpose, capabilities: [.videoHEVC], identifier: identifier, name: "Caller",
      softwareVersion: "1", nonce: Nonce())
  }
}

/// Tries to pair.
final class PairingCall: Sendable {
  let events = Observed<LinkEvent>()
  let secure: SecureTransport
  private let link: LinkConnection

  /// - Parameters:
  ///   - signer: whose key signs; nil for the host's own.
  ///   - asks: whether it says what it came for.
  ///   - observer: hears each event before it is noted.
  init(
    _ glasses: ServedGlasses, _ offer: PairingOffer, as host: HostParty, signer: SigningKey? = nil, asks: Bool = true,
    observer: @escaping @Sendable (LinkEvent) -> Void = { _ in }
  ) throws {
    let timekeeper = SystemTimekeeper.shared
    let secure = try SecureTransport(
      over: TCPTransport(to: glasses.server.addresses), TLSConfiguration(.pairing(offer)), timekeeper: timekeeper)
    let link = LinkConnection(
      endpoint: LinkEndpoint(hello: .calling(.companion, .pairing)), transport: secure, timekeeper: timekeeper,
      name: "pairing")
    self.secure = secure
    self.link = link
    link.start { [events, weak link] event in
      observer(event)
      if asks, case .opened = event, let exported = secure.exportedKey(PairingProof.label),
        let signature = try? PairingProof.signature(
          as: .host, by: signer ?? host.key, exported: exported, host: host.key.publicKey)
      {
        link?.send(
          .pairingRequest(
            PairingRequest(
              hostName: host.name, hostKey: host.key.publicKey.subjectPublicKeyInfo, signature: signature)))
      }
      events.record(event)
    }
  }

  deinit { link.close(Goodbye(reason: .finished)) }

  func leave() { link.close(Goodbye(reason: .finished)) }

  /// True when the glasses have taken the host; false when the link has ended without.
  func isAccepted() async throws -> Bool {
    @Sendable func isAnswer(_ event: LinkEvent) -> Bool {
      switch event {
      case .message(.pairingAccepted), .closed: true
      case _: false
      }
    }
    let answer = try await events.first("an answer", where: isAnswer)
    if case .message(.pairingAccepted) = answer { return true }
    return false
  }
}
