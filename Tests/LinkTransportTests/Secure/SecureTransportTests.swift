import LinkProtocol
import LinkTransport
import TestSupport
import Testing
import Trust
import Units

/// TLS over a transport in memory, with the clock by hand.
@Suite("TLS over a transport")
struct SecureTransportTests {
  private enum Happening: Equatable, Sendable {
    case received([UInt8])
    case writable
    case closed(TransportClose)
  }

  private struct Party {
    let identity: TLSIdentity
    let key: SigningKey

    init(_ role: CertificateRole) throws {
      key = try SigningKey()
      identity = try #require(TLSIdentity(key: key, certificate: Certificate.selfSigned(key, as: role)))
    }
  }

  private let timekeeper = ManualTimekeeper()
  private let glasses: Party
  private let host: Party

  init() throws {
    glasses = try Party(.agent)
    host = try Party(.host)
  }

  private func handlers(_ observed: Observed<Happening>) -> TransportHandlers {
    TransportHandlers(
      received: { observed.record(.received($0)) }, writable: { observed.record(.writable) },
      closed: { observed.record(.closed($0)) })
  }

  private func client(_ inner: any ByteTransport, pin: KeyPin? = nil) throws -> SecureTransport {
    try SecureTransport(
      over: inner, TLSConfiguration(.client(host.identity, agent: pin ?? glasses.key.pin)), timekeeper: timekeeper)
  }

  private func server(_ inner: any ByteTransport, hosts: [PublicKey]? = nil) throws -> SecureTransport {
    try SecureTransport(
      over: inner,
      TLSConfiguration(.agent(glasses.identity, hosts: hosts ?? [host.key.publicKey], pairing: nil)),
      timekeeper: timekeeper)
  }

  @Test(
    "Nothing can be written before the peers know each other; then bytes pass both ways, and the end arrives behind them"
  )
  func wholeLife() throws {
    let wire = MemoryLink.makePair(timekeeper: timekeeper, latency: .milliseconds(10))
    let client = try client(wire.app)
    let server = try server(wire.glasses)
    let (atClient, atServer) = (Observed<Happening>(), Observed<Happening>())
    let peers = Observed<TLSPeer>()
    let lane = timekeeper.makeLane("handshakes")
    server.begin(on: lane) { [handlers = handlers(atServer)] peer in
      peers.record(peer)
      server.open(handlers)
    }
    client.open(handlers(atClient))
    #expect(client.writableBytes == 0 && server.writableBytes == 0)
    timekeeper.advance(by: .milliseconds(20))
    #expect(client.peer == .agent(glasses.key.pin) && client.writableBytes > 200_000)
    #expect(atClient.values == [.writable])
    client.write([1, 2, 3])
    timekeeper.advance(by: .milliseconds(10))
    #expect(peers.values == [.companion(host: host.key.pin)])
    #expect(atServer.values == [.writable, .received([1, 2, 3])])
    server.write([UInt8](repeating: 7, count: 100_000))
    client.write([4])
    client.close()
    timekeeper.advance(by: .seconds(60))
    #expect(atServer.values.suffix(2) == [.received([4]), .closed(.peerClosed)])
    #expect(atClient.values.last == .closed(.closedHere))
    lane.end()
  }

  @Test(
    "Glasses with another key, or a host that is not paired: one clear end on both sides, and not a byte has passed")
  func strangers() throws {
    let other = try Party(.agent)
    let lane = timekeeper.makeLane("handshakes")
    for isWrongPin in [true, false] {
      let wire = MemoryLink.makePair(timekeeper: timekeeper)
      let server = try server(wire.glasses, hosts: isWrongPin ? nil : [other.key.publicKey])
      let client = try client(wire.app, pin: isWrongPin ? other.key.pin : nil)
      let (atClient, atServer) = (Observed<Happening>(), Observed<Happening>())
      let peers = Observed<TLSPeer>()
      server.begin(on: lane) { peers.record($0) }
      server.open(handlers(atServer))
      client.open(handlers(atClient))
      timekeeper.settle()
      #expect(peers.values.isEmpty && server.peer == nil)
      #expect(atServer.values.count == 1)
      for end in [atClient, atServer] {
        guard case .closed(.failed(let words)) = end.values.last else {
          Issue.record("not closed: \(end.values)")
          continue
        }
        #expect(words.contains(isWrongPin && end === atClient ? "not the paired one" : "pair"))
      }
    }
    lane.end()
  }

  @Test("Who never speaks, or stops in the middle, is sent away after five seconds")
  func silence() throws {
    let lane = timekeeper.makeLane("handshakes")
    for first: [UInt8] in [[], [0x16, 3, 1]] {
      let wire = MemoryLink.makePair(timekeeper: timekeeper)
      let closes = Observed<TransportClose>()
      let server = try server(wire.glasses)
      server.begin(on: lane, established: { _ in }, closed: { closes.record($1) })
      wire.app.open(TransportHandlers(received: { _ in }, writable: {}, closed: { _ in }))
      wire.app.write(first)
      timekeeper.advance(by: .milliseconds(4999))
      #expect(closes.values.isEmpty)
      timekeeper.advance(by: .milliseconds(1))
      #expect(closes.values == [.failed("the other end did not prove who it is in time")])
    }
    lane.end()
  }

  @Test("A connection that ends without the peer's word was cut, and says so")
  func cut() throws {
    let wire = MemoryLink.makePair(timekeeper: timekeeper)
    let client = try client(wire.app)
    let server = try server(wire.glasses)
    let atClient = Observed<Happening>()
    let lane = timekeeper.makeLane("handshakes")
    server.begin(on: lane) { _ in }
    client.open(handlers(atClient))
    timekeeper.settle()
    wire.glasses.close()
    timekeeper.settle()
    #expect(atClient.values.last == .closed(.failed("the connection was cut")))
    #expect(client.writableBytes == 0)
    lane.end()
  }

  @Test("A reader that takes nothing slows the writer, and what it takes makes room")
  func backpressure() throws {
    let wire = MemoryLink.makePair(timekeeper: timekeeper, capacity: 65_536)
    let client = try client(wire.app)
    let server = try server(wire.glasses)
    let (atClient, atServer) = (Observed<Happening>(), Observed<Happening>())
    let lane = timekeeper.makeLane("handshakes")
    server.begin(on: lane) { _ in }
    server.open(handlers(atServer))
    client.open(handlers(atClient))
    timekeeper.settle()
    var written = 0
    while client.writableBytes > 0 {
      let count = min(5000, client.writableBytes)
      client.write([UInt8](repeating: 1, count: count))
      written += count
    }
    #expect(written > 60_000 && written < 65_536)
    let received = atServer.values.reduce(0) { sum, happening in
      if case .received(let bytes) = happening { sum + bytes.count } else { sum }
    }
    #expect(received == written)
    server.consumed(received)
    #expect(client.writableBytes > 60_000 && atClient.values.last == .writable)
    lane.end()
  }

  @Test("A link over TLS over connections that break goes on, and only for the peer that opened it")
  func wholeStack() throws {
    let lane = timekeeper.makeLane("handshakes")
    let events = Observed<LinkEvent>()
    let streams = Observed<ResumableTransport>()
    let (timekeeper, glasses, host) = (timekeeper, glasses, host)
    let links = ResumableServer<TLSPeer>(timekeeper: timekeeper) { stream, _ in streams.record(stream) }
    let ends = Observed<any ByteTransport>()
    let app = LinkConnection(
      endpoint: LinkEndpoint(hello: .testApp),
      transport: ResumableDialer.stream(timekeeper: timekeeper) {
        let wire = MemoryLink.makePair(timekeeper: timekeeper, latency: .milliseconds(5))
        ends.record(wire.glasses)
        let agent = TLSConfiguration(.agent(glasses.identity, hosts: [host.key.publicKey], pairing: nil))
        let caller = TLSConfiguration(.client(host.identity, agent: glasses.key.pin))
        guard let server = try? SecureTransport(over: wire.glasses, agent, timekeeper: timekeeper),
          let client = try? SecureTransport(over: wire.app, caller, timekeeper: timekeeper)
        else { return wire.app }
        server.begin(on: lane) { links.accept(server, from: $0) }
        return client
      }, timekeeper: timekeeper, name: "app")
    app.start { events.record($0) }
    timekeeper.advance(by: .milliseconds(100))
    let stream = try #require(streams.values.first)
    let served = Observed<LinkEvent>()
    let server = LinkConnection(
      endpoint: LinkEndpoint(hello: .testGlasses), transport: stream, timekeeper: timekeeper, name: "glasses")
    server.start { served.record($0) }
    timekeeper.advance(by: .milliseconds(100))
    #expect(events.values == [.opened(.testGlasses)])
    for number: UInt32 in 1...5 {
      app.send(.sessionOpen(SessionOpen(session: SessionID(number))))
      for end in ends.values { end.close() }
      timekeeper.advance(by: .milliseconds(200))
    }
    let sessions = served.values.compactMap { event -> UInt32? in
      if case .message(.sessionOpen(let open)) = event { open.session.value } else { nil }
    }
    #expect(sessions == [1, 2, 3, 4, 5] && streams.values.count == 1 && ends.values.count == 6)
    app.close(Goodbye(reason: .finished))
    timekeeper.advance(by: .seconds(2))
    #expect(links.streamCount == 0)
    lane.end()
  }
}
