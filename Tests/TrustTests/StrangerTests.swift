import Foundation
import Testing

@testable import Trust

/// Handshakes with `openssl` itself, over TCP.
@Suite struct StrangerTests {
  @Test("openssl pairs with us: its pre-shared key is ours")
  func pairing() throws {
    let (agent, offer) = (try Party(.agent), try makeOffer())
    let listener = try Listener()
    let stranger = try OpenSSLProcess(
      ["s_client", "-quiet", "-connect", listener.address, "-tls1_3", "-alpn", "glasswing/1"]
        + ["-psk", hex(offer), "-psk_identity", "pair:lab-3"])
    let events = try converse(listener.accept(), agent: agent, hosts: [], pairing: offer, stranger)
    #expect(TLSPair.peer(events) == .pairing(offer.device))
    #expect(String(decoding: TLSPair.received(events), as: UTF8.self) == "from a stranger\n")
    #expect(try stranger.output().contains("from glasses"))
  }

  @Test("openssl comes in with an app's certificate, which the host signed")
  func app() throws {
    let (host, agent) = (try Party(.host), try Party(.agent))
    let app = try Party(app: "org.example.app", of: host)
    let folder = try Files([("app", app), ("agent", agent)])
    let listener = try Listener()
    // It checks the glasses' certificate by its own rules, with nothing but that certificate to go by.
    let stranger = try OpenSSLProcess(
      ["s_client", "-quiet", "-connect", listener.address, "-tls1_3", "-alpn", "glasswing/1"]
        + ["-cert", folder.certificate("app"), "-key", folder.key("app"), "-partial_chain", "-verify_return_error"]
        + ["-CAfile", folder.certificate("agent")])
    let events = try converse(listener.accept(), agent: agent, hosts: [host.key.publicKey], pairing: nil, stranger)
    #expect(TLSPair.peer(events) == .app(identifier: "org.example.app", key: app.pin, host: host.pin))
    #expect(String(decoding: TLSPair.received(events), as: UTF8.self) == "from a stranger\n")
    #expect(try stranger.output().contains("from glasses"))
  }

  @Test("openssl with an older TLS, without our protocol, or with too long a chain is told so")
  func refusals() throws {
    let (host, agent) = (try Party(.host), try Party(.agent))
    let app = try Party(app: "org.example.app", of: host)
    let folder = try Files([("app", app), ("host", host), ("agent", agent)])
    try Data(host.certificate.pem + agent.certificate.pem).write(to: URL(filePath: folder.certificate("chain")))
    let chain = [
      "-cert", folder.certificate("app"), "-key", folder.key("app"), "-cert_chain", folder.certificate("chain"),
    ]
    let cases: [([String], TLSError)] = [
      (["-tls1_2", "-alpn", "glasswing/1"], TLSError(.versionRefused, stage: .hello)),
      (["-tls1_3"], TLSError(.protocolRefused(offered: []), stage: .hello)),
      (["-alpn", "h2,http/1.1"], TLSError(.protocolRefused(offered: ["h2", "http/1.1"]), stage: .hello)),
      (["-alpn", "glasswing/1"], TLSError(.certificateMissing, stage: .certificate)),
      (["-alpn", "glasswing/1"] + chain, TLSError(.chainTooLong(limit: 2), stage: .certificate)),
    ]
    for (arguments, error) in cases {
      let listener = try Listener()
      let stranger = try OpenSSLProcess(["s_client", "-quiet", "-connect", listener.address] + arguments)
      let events = try converse(listener.accept(), agent: agent, hosts: [host.key.publicKey], pairing: nil, stranger)
      #expect(events == [.failed(error)], "\(arguments)")
      _ = try stranger.output()
    }
  }

  @Test("openssl as the glasses: it takes an app's certificate by the host's, and we know it by its pin")
  func server() throws {
    let (host, agent) = (try Party(.host), try Party(.agent))
    let app = try Party(app: "org.example.app", of: host)
    let folder = try Files([("agent", agent), ("host", host)])
    let stranger = try OpenSSLProcess(
      ["s_server", "-accept", "127.0.0.1:0", "-naccept", "1", "-tls1_3", "-alpn", "glasswing/1"]
        + ["-cert", folder.certificate("agent"), "-key", folder.key("agent")]
        + ["-Verify", "1", "-verify_return_error", "-CAfile", folder.certificate("host")])
    let line = try stranger.line { $0.hasPrefix("ACCEPT ") }
    let port = try #require(UInt16(line.split(separator: ":").last ?? ""))
    let socket = try TestSocket(connectingTo: port)
    let client = try TLSEngine(TLSConfiguration(.client(app.identity, agent: agent.pin)))
    try socket.send(client.start().bytes)
    let events = try socket.pump(client) { $0.contains(.established(.agent(agent.pin))) }
    #expect(events == [.established(.agent(agent.pin))])
    try socket.send(client.send(Array("from an app\n".utf8)).bytes)
    try socket.send(client.close().bytes)
    socket.close()
    #expect(try stranger.output().contains("from an app\n"))
  }

  // MARK: Helpers

  private func hex(_ offer: PairingOffer) -> String {
    offer.secret.withBytes { $0.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
  }

  /// Lets the engine talk until the stranger has said a line, answers it and closes.
  private func converse(
    _ socket: TestSocket, agent: Party, hosts: [PublicKey], pairing: PairingOffer?, _ stranger: OpenSSLProcess
  ) throws -> [TLSEvent] {
    let engine = try TLSEngine(TLSConfiguration(.agent(agent.identity, hosts: hosts, pairing: pairing)))
    stranger.say("from a stranger\n")
    let events = try socket.pump(engine) { TLSPair.received($0).last == UInt8(ascii: "\n") }
    try? socket.send(engine.send(Array("from glasses\n".utf8)).bytes)
    try? socket.send(engine.close().bytes)
    socket.close()
    return events
  }
}

/// Certificates and keys as openssl reads them.
private final class Files {
  private let folder: PrivateFolder

  init(_ parties: [(String, Party)]) throws {
    folder = try PrivateFolder()
    for (name, party) in parties {
      try Data(party.certificate.pem).write(to: URL(filePath: certificate(name)))
      try Data(party.key.pem()).write(to: URL(filePath: key(name)))
    }
  }

  func certificate(_ name: String) -> String { folder.file("\(name).crt") }
  func key(_ name: String) -> String { folder.file("\(name).key") }
}
