import COpenSSL
import Testing

@testable import Trust

/// Handshakes that must not end well: nobody is taken for somebody, and nothing of an application passes.
@Suite struct TLSRefusalTests {
  private let media = Array("a picture".utf8)

  @Test("Glasses with another key than the paired one are refused before they learn who calls")
  func wrongPin() throws {
    let (host, agent, impostor) = (try Party(.host), try Party(.agent), try Party(.agent))
    let pair = try TLSPair(
      client: .client(host.identity, agent: agent.pin), agent: impostor, hosts: [host.key.publicKey])
    pair.start()
    #expect(pair.clientError?.cause == .agentUnknown(expected: agent.pin, found: impostor.pin))
    #expect(pair.clientError?.stage == .certificate)
    #expect(pair.serverError?.cause == .refusedByPeer(alert: Alert.unknownAuthority))
    #expect(pair.clientPeer == nil && pair.serverPeer == nil)
    // A hello and an alert: no certificate.
    #expect(pair.fromClient.count == 2 && pair.fromClient[1].count < 40)
  }

  @Test("A client of no paired host is refused, and what it sent along reaches nobody", arguments: [true, false])
  func wrongHost(isApp: Bool) throws {
    let (host, stranger, agent) = (try Party(.host), try Party(.host), try Party(.agent))
    let client = isApp ? try Party(app: "org.example.app", of: stranger) : stranger
    let pair = try TLSPair(
      client: .client(client.identity, agent: agent.pin), agent: agent, hosts: [host.key.publicKey])
    pair.disturbsClient = { flight, bytes in
      // It is through from its own point of view, and sends at once.
      flight == 1 ? [bytes + pair.client.send(media).bytes] : [bytes]
    }
    pair.start()
    #expect(pair.serverEvents == [.failed(TLSError(.hostUnknown(client.pin), stage: .certificate))])
    #expect(pair.clientError?.cause == .refusedByPeer(alert: Alert.unknownAuthority))
    #expect(pair.serverReceived.isEmpty && pair.clientReceived.isEmpty)
  }

  @Test("A certificate that only says that a paired host signed it is refused")
  func forgedIssuer() throws {
    let (host, agent) = (try Party(.host), try Party(.agent))
    // The host's names, another key: what somebody can make who has seen one certificate.
    let real = try Party(app: "org.example.app", of: host)
    let key = try SigningKey()
    let certificate = try #require(X509_dup(real.certificate.handle))
    try #require(X509_set_pubkey(certificate, key.publicKey.handle) == 1)
    try #require(X509_sign(certificate, key.handle, EVP_sha256()) > 0)
    let forged = try Party(key, Certificate(owning: certificate))
    let pair = try TLSPair(
      client: .client(forged.identity, agent: agent.pin), agent: agent, hosts: [host.key.publicKey])
    pair.start()
    #expect(pair.serverError?.cause == .hostUnknown(key.pin))
    #expect(pair.serverPeer == nil)
  }

  @Test("A paired app's certificate vouches for nobody else")
  func appAsAuthority() throws {
    let (host, agent) = (try Party(.host), try Party(.agent))
    let app = try Party(app: "org.example.app", of: host)
    let child = try Party(app: "org.example.child", of: app)
    let pair = try TLSPair(
      client: .client(child.identity, agent: agent.pin), agent: agent, hosts: [host.key.publicKey])
    pair.start()
    #expect(pair.serverError?.cause == .hostUnknown(child.pin))
  }

  @Test("Somebody else's certificate is no use without its key")
  func stolenCertificate() throws {
    let (host, agent) = (try Party(.host), try Party(.agent))
    let thief = try SigningKey()
    // No identity of ours can be made of the two; a thief's software would not mind.
    #expect(TLSIdentity(key: thief, certificate: host.certificate) == nil)
    let engine = try TLSEngine(
      TLSConfiguration(.agent(agent.identity, hosts: [host.key.publicKey], pairing: nil)))
    let key = try disguised(thief, as: host.key.publicKey)
    defer { EVP_PKEY_free(key) }
    let events = try ForeignClient(certificate: host.certificate.handle, key: key).run(against: engine)
    #expect(events.count == 1 && TLSPair.error(events)?.stage == .certificate, "\(events)")
  }

  @Test("A signature of a host on what is not an app's certificate lets nobody in")
  func wrongRole() throws {
    let (host, agent) = (try Party(.host), try Party(.agent))
    let key = try SigningKey()
    let own = try Certificate.selfSigned(key, as: .agent)
    let certificate = try #require(X509_dup(own.handle))
    try #require(X509_sign(certificate, host.key.handle, EVP_sha256()) > 0)
    let signed = try Party(key, Certificate(owning: certificate))
    let pair = try TLSPair(
      client: .client(signed.identity, agent: agent.pin), agent: agent, hosts: [host.key.publicKey])
    pair.start()
    #expect(pair.serverError?.cause == .certificateRefused(.roleMissing))
  }

  @Test("A wrong secret, an old one and a pairing that is not open look alike to the client, and show it nothing")
  func wrongSecret() throws {
    let (host, agent, offer) = (try Party(.host), try Party(.agent), try makeOffer())
    func attempt(_ client: PairingOffer, _ open: PairingOffer?) throws -> TLSPair {
      let pair = try TLSPair(client: .pairing(client), agent: agent, hosts: [host.key.publicKey], pairing: open)
      pair.start()
      #expect(pair.clientPeer == nil && pair.serverPeer == nil)
      return pair
    }
    let wrong = try attempt(makeOffer(), offer)
    // Second-hand: what was right until the window closed, or until it was opened anew.
    let closed = try attempt(offer, nil)
    let renewed = try attempt(offer, makeOffer())
    let otherGlasses = try attempt(makeOffer("lab-4", secret: offer.secret), offer)
    #expect(wrong.serverError == TLSError(.secretWrong, stage: .secret))
    #expect(renewed.serverError == TLSError(.secretWrong, stage: .secret))
    #expect(closed.serverError == TLSError(.pairingUnknown, stage: .secret))
    #expect(otherGlasses.serverError == TLSError(.pairingUnknown, stage: .secret))
    for pair in [wrong, closed, renewed, otherGlasses] {
      #expect(pair.fromServer == [[21, 3, 3, 0, 2, 2, Alert.illegalParameter]])
      #expect(pair.clientError?.cause == .refusedByPeer(alert: Alert.illegalParameter))
    }
  }

  @Test("Glasses that are paired with nobody show a stranger no certificate")
  func nobodyPaired() throws {
    let (host, agent, offer) = (try Party(.host), try Party(.agent), try makeOffer())
    for pairing in [nil, offer] {
      let pair = try TLSPair(
        client: .client(host.identity, agent: agent.pin), agent: agent, hosts: [], pairing: pairing)
      pair.start()
      #expect(pair.serverError == TLSError(.notPaired, stage: .hello))
      #expect(pair.fromServer == [[21, 3, 3, 0, 2, 2, Alert.handshakeFailure]])
      #expect(pair.clientError?.cause == .refusedByPeer(alert: Alert.handshakeFailure))
    }
  }

  @Test("A client that pairs takes no server that goes on without the secret")
  func secretIgnored() throws {
    let (agent, offer) = (try Party(.agent), try makeOffer())
    let client = try TLSEngine(TLSConfiguration(.pairing(offer)))
    let server = try ForeignServer(certificate: agent.certificate.handle, key: agent.key.handle)
    let events = server.run(against: client)
    #expect(events == [.failed(TLSError(.secretNotUsed, stage: .secret))])
  }

  @Test("A client without a certificate is refused")
  func noCertificate() throws {
    let (host, agent) = (try Party(.host), try Party(.agent))
    let engine = try TLSEngine(
      TLSConfiguration(.agent(agent.identity, hosts: [host.key.publicKey], pairing: nil)))
    let events = try ForeignClient(certificate: nil, key: nil).run(against: engine)
    #expect(events == [.failed(TLSError(.certificateMissing, stage: .certificate))])
  }

  @Test("Another version of our protocol is refused at both ends, by name where it was said")
  func wrongProtocol() throws {
    let (host, agent) = (try Party(.host), try Party(.agent))
    let pair = try TLSPair(
      client: TLSConfiguration(.client(host.identity, agent: agent.pin), applicationProtocol: "glasswing/2"),
      server: TLSConfiguration(.agent(agent.identity, hosts: [host.key.publicKey], pairing: nil)))
    pair.start()
    #expect(pair.serverError == TLSError(.protocolRefused(offered: ["glasswing/2"]), stage: .hello))
    #expect(pair.clientError == TLSError(.protocolRefused(offered: []), stage: .hello))
    #expect(pair.fromServer == [[21, 3, 3, 0, 2, 2, Alert.noApplicationProtocol]])
  }

  @Test("No protocol at all is refused, by a server and by a client")
  func noProtocol() throws {
    let (host, agent) = (try Party(.host), try Party(.agent))
    let server = try TLSEngine(
      TLSConfiguration(.agent(agent.identity, hosts: [host.key.publicKey], pairing: nil)))
    let client = try ForeignClient(certificate: host.certificate.handle, key: host.key.handle, offersProtocol: false)
    #expect(client.run(against: server) == [.failed(TLSError(.protocolRefused(offered: []), stage: .hello))])

    let ours = try TLSEngine(TLSConfiguration(.client(host.identity, agent: agent.pin)))
    let silent = try ForeignServer(certificate: agent.certificate.handle, key: agent.key.handle)
    #expect(silent.run(against: ours) == [.failed(TLSError(.protocolRefused(offered: []), stage: .hello))])
  }

  @Test("An older TLS is refused at both ends")
  func oldVersion() throws {
    let (host, agent) = (try Party(.host), try Party(.agent))
    let server = try TLSEngine(
      TLSConfiguration(.agent(agent.identity, hosts: [host.key.publicKey], pairing: nil)))
    let client = try ForeignClient(
      certificate: host.certificate.handle, key: host.key.handle, version: TLS1_2_VERSION)
    #expect(client.run(against: server) == [.failed(TLSError(.versionRefused, stage: .hello))])

    let ours = try TLSEngine(TLSConfiguration(.client(host.identity, agent: agent.pin)))
    let old = try ForeignServer(
      certificate: agent.certificate.handle, key: agent.key.handle, version: TLS1_2_VERSION)
    #expect(old.run(against: ours) == [.failed(TLSError(.versionRefused, stage: .hello))])
  }

  @Test("Nothing can be sent before the peer is known")
  func sendingEarly() throws {
    let (host, agent) = (try Party(.host), try Party(.agent))
    let client = try TLSEngine(TLSConfiguration(.client(host.identity, agent: agent.pin)))
    let server = try TLSEngine(
      TLSConfiguration(.agent(agent.identity, hosts: [host.key.publicKey], pairing: nil)))
    // The server has the client's hello and could encrypt, by TLS.
    let flight = server.receive(client.start().bytes)
    #expect(!flight.bytes.isEmpty && flight.events.isEmpty)
    for engine in [client, server] {
      let output = engine.send(media)
      #expect(output.bytes.isEmpty)
      #expect(output.events.count == 1 && TLSPair.error(output.events)?.cause == .notEstablished)
      #expect(engine.isOver)
    }
  }

  @Test("Flights of an earlier handshake open nothing")
  func replay() throws {
    let (host, agent, offer) = (try Party(.host), try Party(.agent), try makeOffer())
    for client in [TLSConfiguration.Authentication.client(host.identity, agent: agent.pin), .pairing(offer)] {
      let pair = try TLSPair(client: client, agent: agent, hosts: [host.key.publicKey], pairing: offer)
      pair.start()
      pair.clientSends(media)
      #expect(pair.serverReceived == media)
      let fresh = try TLSEngine(
        TLSConfiguration(.agent(agent.identity, hosts: [host.key.publicKey], pairing: offer)))
      let events = pair.fromClient.flatMap { fresh.receive($0).events }
      #expect(events.count == 1 && TLSPair.error(events) != nil, "\(events)")
      #expect(fresh.isOver)
    }
  }

  @Test("A handshake without end is ended, and one that says that it will be long before there is room made for it")
  func endlessHandshake() throws {
    let (host, agent) = (try Party(.host), try Party(.agent))
    let configuration = TLSConfiguration(.agent(agent.identity, hosts: [host.key.publicKey], pairing: nil))
    let tooLong = TLSEvent.failed(TLSError(.handshakeTooLong(limit: 16_384), stage: .hello))
    // Empty records are allowed, one by one.
    let endless = try TLSEngine(configuration)
    let hello = try TLSEngine(TLSConfiguration(.client(host.identity, agent: agent.pin))).start().bytes
    var events = endless.receive(hello).events
    var received = hello.count
    while events.isEmpty, received < 100_000 {
      // What makes TLS 1.3 look older to middle boxes, which is skipped wherever it stands.
      events += endless.receive([20, 3, 3, 0, 1, 1]).events
      received += 6
    }
    #expect(events.count == 1 && received <= 16_384 + 6, "\(events) after \(received)")

    // A hello of 16,385 bytes by its head, which comes whole or in records of a byte.
    for head in [[22, 3, 1, 0, 4, 1, 0, 0x40, 1], [1, 0, 0x40, 1].flatMap { [22, 3, 1, 0, 1, $0] }] as [[UInt8]] {
      let server = try TLSEngine(configuration)
      #expect(server.receive(Array(head.dropLast())).events.isEmpty)
      #expect(server.receive(Array(head.suffix(1))).events == [tooLong])
    }
    // One that is as long as it may be waits for the rest, and is too long with its record's head.
    let longest = try TLSEngine(configuration)
    #expect(longest.receive([22, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc]).events.isEmpty)
    #expect(longest.receive([UInt8](repeating: 3, count: 16_375)).events.isEmpty)
    #expect(longest.receive([3]).events == [tooLong])
  }

  @Test("Garbage is refused with a word on what it is not")
  func garbage() throws {
    let agent = try Party(.agent)
    for text in ["GET / HTTP/1.1\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}"] {
      let server = try TLSEngine(TLSConfiguration(.agent(agent.identity, hosts: [], pairing: nil)))
      let output = server.receive(Array(text.utf8))
      #expect(output.events.count == 1)
      #expect(TLSPair.error(output.events)?.stage == .hello)
    }
  }
}
