import LinkProtocol
import LinkTransport
import Synchronization
import TestSupport
import Testing
import Trust
import Units

/// The whole way from a network to a link: sockets, handshake, a stream that outlives connections. Real sockets on loopback.
@Suite("The way into glasses from a network", .exclusive(.mockKit))
struct SecureDoorTests {
  private struct Party {
    let key: SigningKey
    let identity: TLSIdentity

    init(_ role: CertificateRole) throws {
      key = try SigningKey()
      identity = try #require(TLSIdentity(key: key, certificate: Certificate.selfSigned(key, as: role)))
    }
  }

  private final class Window: Sendable {
    private let window = Mutex(PairingWindow())

    func withLock<Value>(_ body: (inout PairingWindow) throws -> Value) rethrows -> Value {
      try window.withLock { try body(&$0) }
    }
  }

  private final class Glasses: Sendable {
    let door: SecureDoor
    let streams: ResumableServer<TLSPeer>
    let addresses: [SocketAddress]
    let pin: KeyPin
    let links = Observed<LinkConnection>()
    let events = Observed<LinkEvent>()
    let peers = Observed<TLSPeer>()
    let pairing = Observed<SecureTransport>()
    let failures = Observed<TLSError>()

    init(hosts: [PublicKey], pairing offer: PairingOffer? = nil) throws {
      let timekeeper = SystemTimekeeper.shared
      let party = try Party(.agent)
      pin = party.key.pin
      streams = ResumableServer(timekeeper: timekeeper) { [links, events, peers] stream, peer in
        peers.record(peer)
        let link = LinkConnection(
          endpoint: LinkEndpoint(hello: .testGlasses), transport: stream, timekeeper: timekeeper, name: "glasses")
        links.record(link)
        link.start { events.record($0) }
      }
      let window = Window()
      if let offer { window.withLock { $0.open(offer, for: .seconds(60), at: timekeeper.now) } }
      let listener = GuardedListener(try TCPListener(on: HostPort(host: "127.0.0.1", port: 0)))
      addresses = listener.addresses
      door = SecureDoor(
        listener, streams: streams, timekeeper: timekeeper,
        callbacks: SecureDoor.Callbacks(
          terms: { address in
            let attempt = window.withLock { try? $0.attempt(from: address.hostText, at: timekeeper.now) }
            return SecureDoor.Terms(
              TLSConfiguration(.agent(party.identity, hosts: hosts, pairing: attempt?.offer)), pairing: attempt)
          },
          paired: { [pairing] transport, _, _ in pairing.record(transport) },
          failed: { [failures] error, _, _ in failures.record(error) }))
      try door.start()
    }

    deinit {
      door.stop()
      streams.end()
    }
  }

  private func app(
    _ glasses: Glasses, as party: Party, pin: KeyPin? = nil, dialed: Observed<TCPTransport>
  ) -> LinkConnection {
    let timekeeper = SystemTimekeeper.shared
    let configuration = TLSConfiguration(.client(party.identity, agent: pin ?? glasses.pin))
    let addresses = glasses.addresses
    return LinkConnection(
      endpoint: LinkEndpoint(hello: .testApp),
      transport: ResumableDialer.stream(timekeeper: timekeeper) {
        let connection = TCPTransport(to: addresses)
        dialed.record(connection)
        return SecureTransport.dialing(over: connection, configuration, timekeeper: timekeeper)
      }, timekeeper: timekeeper, name: "app")
  }

  private static func sessions(_ events: [LinkEvent]) -> [UInt32] {
    events.compactMap { event in
      if case .message(.sessionOpen(let open)) = event { open.session.value } else { nil }
    }
  }

  private static func levels(_ events: [LinkEvent]) -> [UInt8] {
    events.compactMap { event in
      if case .message(.deviceState(let state)) = event { state.batteryLevel } else { nil }
    }
  }

  private static func cause(_ events: [LinkEvent]) -> LinkClose.Cause? {
    if case .closed(let close) = events.last { close.cause } else { nil }
  }

  @Test("A paired host's link opens, and goes on by itself when its connections break, in both directions")
  func goesOn() async throws {
    let host = try Party(.host)
    let glasses = try Glasses(hosts: [host.key.publicKey])
    let dialed = Observed<TCPTransport>()
    let app = app(glasses, as: host, dialed: dialed)
    let events = Observed<LinkEvent>()
    app.start { events.record($0) }
    try await events.wait("the opening") { $0.first == .opened(.testGlasses) }
    for number: UInt32 in 1...5 {
      app.send(.sessionOpen(SessionOpen(session: SessionID(number))))
      dialed.values.last?.close()
      glasses.links.values.first?.send(.deviceState(DeviceStateReport(batteryLevel: UInt8(number))))
      try await dialed.wait("another connection") { $0.count == Int(number) + 1 }
      try await glasses.events.wait("the message") { Self.sessions($0).count == Int(number) }
    }
    #expect(Self.sessions(glasses.events.values) == [1, 2, 3, 4, 5])
    try await events.wait("what the glasses said") { Self.levels($0).count == 5 }
    #expect(Self.levels(events.values) == [1, 2, 3, 4, 5])
    #expect(glasses.peers.values == [.companion(host: host.key.pin)] && glasses.links.values.count == 1)
    app.close(Goodbye(reason: .finished))
    try await glasses.events.wait("the end") { Self.cause($0) != nil }
    #expect(glasses.failures.values.isEmpty)
  }

  @Test("Glasses with another key and hosts that nobody has paired are refused in words, and no link opens")
  func refused() async throws {
    let (host, stranger) = (try Party(.host), try Party(.host))
    let glasses = try Glasses(hosts: [host.key.publicKey])
    for (party, pin, says) in [(host, stranger.key.pin, "not the paired one"), (stranger, glasses.pin, "not paired")] {
      let app = app(glasses, as: party, pin: pin, dialed: Observed())
      let events = Observed<LinkEvent>()
      app.start { events.record($0) }
      try await events.wait("the end") { Self.cause($0) != nil }
      guard case .transport(.failed(let words)) = Self.cause(events.values) else {
        Issue.record("\(events.values)")
        continue
      }
      #expect(words.contains(says), "\(words)")
      #expect(events.values.count == 1)
    }
    try await glasses.failures.wait("what the glasses were told") { $0.count == 2 }
    #expect(glasses.links.values.isEmpty && glasses.streams.streamCount == 0)
  }

  @Test("Who knows the pairing's secret gets to the pairing, and to no link")
  func pairs() async throws {
    let device = try #require(GlassesIdentifier("lab-3"))
    let offer = PairingOffer(device: device, secret: PairingSecret())
    let glasses = try Glasses(hosts: [], pairing: offer)
    let said = Observed<[UInt8]>()
    let client = try SecureTransport(
      over: TCPTransport(to: glasses.addresses), TLSConfiguration(.pairing(offer)),
      timekeeper: SystemTimekeeper.shared)
    let ready = Observed<Bool>()
    client.open(
      TransportHandlers(received: { said.record($0) }, writable: { ready.record(true) }, closed: { _ in }))
    try await glasses.pairing.wait("the pairing") { $0.count == 1 }
    let server = glasses.pairing.values[0]
    #expect(server.peer == .pairing(device))
    server.open(TransportHandlers(received: { server.write($0.reversed()) }, writable: {}, closed: { _ in }))
    try await ready.wait("the handshake") { !$0.isEmpty }
    client.write([1, 2, 3])
    try await said.wait("the answer") { $0.flatMap { $0 }.count == 3 }
    #expect(said.values.flatMap { $0 } == [3, 2, 1] && glasses.links.values.isEmpty)
    client.close()
  }
}
