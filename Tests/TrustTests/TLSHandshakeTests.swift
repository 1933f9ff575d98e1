import COpenSSL
import Testing

@testable import Trust

/// Handshakes that end well.
@Suite struct TLSHandshakeTests {
  private let hello = Array("hello".utf8)

  @Test("A companion and its glasses know each other by their pinned keys")
  func companion() throws {
    let (host, agent) = (try Party(.host), try Party(.agent))
    let pair = try TLSPair(
      client: .client(host.identity, agent: agent.pin), agent: agent, hosts: [host.key.publicKey])
    pair.start()
    #expect(pair.clientEvents == [.established(.agent(agent.pin))])
    #expect(pair.serverEvents == [.established(.companion(host: host.pin))])
    try expectConversation(pair)
  }

  @Test("An app is known by its identifier, its key and the host that signed for it")
  func app() throws {
    let (other, host, agent) = (try Party(.host), try Party(.host), try Party(.agent))
    let app = try Party(app: "org.example.app", of: host)
    let pair = try TLSPair(
      client: .client(app.identity, agent: agent.pin), agent: agent,
      hosts: [other.key.publicKey, host.key.publicKey])
    pair.start()
    #expect(pair.clientPeer == .agent(agent.pin))
    #expect(pair.serverPeer == .app(identifier: "org.example.app", key: app.pin, host: host.pin))
    try expectConversation(pair)
  }

  @Test("Pairing takes both sides' knowledge of the secret, and neither shows a certificate")
  func pairing() throws {
    let (host, agent, offer) = (try Party(.host), try Party(.agent), try makeOffer())
    let pair = try TLSPair(
      client: .pairing(offer), agent: agent, hosts: [host.key.publicKey], pairing: offer)
    pair.start()
    #expect(pair.clientEvents == [.established(.pairing(offer.device))])
    #expect(pair.serverEvents == [.established(.pairing(offer.device))])
    // A flight with a certificate and its signature is far longer.
    #expect(pair.fromServer[0].count < 300, "\(pair.fromServer[0].count)")
    try expectConversation(pair)
  }

  @Test("Pairing works before any host is known")
  func firstPairing() throws {
    let (agent, offer) = (try Party(.agent), try makeOffer())
    let pair = try TLSPair(client: .pairing(offer), agent: agent, hosts: [], pairing: offer)
    pair.start()
    #expect(pair.serverPeer == .pairing(offer.device))
    try expectConversation(pair)
  }

  @Test("While pairing is open, paired hosts come in as ever")
  func onePort() throws {
    let (host, agent, offer) = (try Party(.host), try Party(.agent), try makeOffer())
    let pair = try TLSPair(
      client: .client(host.identity, agent: agent.pin), agent: agent, hosts: [host.key.publicKey],
      pairing: offer)
    pair.start()
    #expect(pair.serverPeer == .companion(host: host.pin))
  }

  @Test("Bytes may come one by one: each side is through with the last byte of its peer's flight, and not before")
  func byteByByte() throws {
    let (host, agent, offer) = (try Party(.host), try Party(.agent), try makeOffer())
    for client in [TLSConfiguration.Authentication.client(host.identity, agent: agent.pin), .pairing(offer)] {
      let pair = try TLSPair(client: client, agent: agent, hosts: [host.key.publicKey], pairing: offer)
      // All truncations at once. What a side says is looked at between two bytes of its peer's.
      var portions: (client: [Bool], server: [Bool]) = ([], [])
      pair.onByteToServer = { portions.server.append(pair.serverPeer != nil) }
      pair.onByteToClient = { portions.client.append(pair.clientPeer != nil) }
      pair.start()
      #expect(portions.server.count == pair.fromClient.joined().count)
      #expect(portions.client.count == pair.fromServer.joined().count)
      // The last is looked at after it came.
      #expect(portions.server.firstIndex(of: true) == portions.server.count - 1)
      #expect(portions.client.firstIndex(of: true) == portions.client.count - 1)
    }
  }

  @Test("Both ends export the same key, each connection another, nobody before the end of the handshake")
  func channelBinding() throws {
    let (agent, offer) = (try Party(.agent), try makeOffer())
    var keys: Set<[UInt8]> = []
    for _ in 0..<2 {
      let pair = try TLSPair(client: .pairing(offer), agent: agent, hosts: [], pairing: offer)
      #expect(pair.client.exportedKey("EXPORTER-test") == nil)
      pair.start()
      let key = try #require(pair.client.exportedKey("EXPORTER-test"))
      #expect(key.count == 32 && pair.server.exportedKey("EXPORTER-test") == key)
      #expect(pair.client.exportedKey("EXPORTER-other") != key)
      keys.insert(key)
    }
    #expect(keys.count == 2)
  }

  @Test("Something wrong on the same thread, with OpenSSL or another connection, is none of a connection's business")
  func strangersErrors() throws {
    let (host, agent) = (try Party(.host), try Party(.agent))
    let pair = try TLSPair(
      client: .client(host.identity, agent: agent.pin), agent: agent, hosts: [host.key.publicKey])
    pair.disturbsServer = { _, bytes in
      leaveErrors()
      return [Array(bytes.prefix(40)), Array(bytes.dropFirst(40))]
    }
    pair.disturbsClient = { _, bytes in
      let other = try? TLSEngine(TLSConfiguration(.agent(agent.identity, hosts: [], pairing: nil)))
      #expect(TLSPair.error(other?.receive(Array("GET / HTTP/1.1\r\n\r\n".utf8)).events ?? []) != nil)
      leaveErrors()
      return [Array(bytes.prefix(40)), Array(bytes.dropFirst(40))]
    }
    pair.start()
    leaveErrors()
    try expectConversation(pair)
    #expect(ERR_peek_error() == 0)
  }

  @Test("A piece of any size arrives whole, and an ended side takes and gives nothing more")
  func longPieces() throws {
    let (host, agent) = (try Party(.host), try Party(.agent))
    let pair = try TLSPair(
      client: .client(host.identity, agent: agent.pin), agent: agent, hosts: [host.key.publicKey])
    pair.start()
    let piece = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    pair.serverSends(piece)
    #expect(pair.clientReceived == piece)
    pair.serverSends([])
    pair.clientCloses()
    #expect(pair.serverEvents.last == .closed)
    #expect(pair.client.isOver && pair.server.isOver)
    #expect(pair.client.send(piece) == TLSOutput())
    #expect(pair.client.receive(piece) == TLSOutput())
    #expect(pair.client.close() == TLSOutput())
    #expect(pair.client.start() == TLSOutput())
  }

  private func expectConversation(_ pair: TLSPair, sourceLocation: SourceLocation = #_sourceLocation) throws {
    pair.clientSends(hello)
    pair.serverSends(hello + hello)
    #expect(pair.serverReceived == hello, sourceLocation: sourceLocation)
    #expect(pair.clientReceived == hello + hello, sourceLocation: sourceLocation)
    pair.serverCloses()
    #expect(pair.clientEvents.last == .closed, sourceLocation: sourceLocation)
    #expect(pair.clientError == nil && pair.serverError == nil, sourceLocation: sourceLocation)
  }

  /// As a call would that nobody cleaned up behind.
  private func leaveErrors() {
    let bytes: [UInt8] = [1, 2, 3]
    bytes.withUnsafeBufferPointer { buffer in
      var position = buffer.baseAddress
      _ = d2i_X509(nil, &position, 3)
    }
    #expect(ERR_peek_error() != 0)
  }
}
