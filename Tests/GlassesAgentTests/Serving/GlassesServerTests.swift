import Foundation
import LinkProtocol
import LinkTransport
import TestSupport
import Testing
import Trust
import Units

@testable import GlassesAgent

/// Glasses on loopback, and clients that say what they should not.
@Suite("Glasses on a network", .exclusive(.mockKit))
struct GlassesServerTests {
  private final class Scene: Sendable {
    let home: GlassesHome
    let server: GlassesServer
    let host: SigningKey
    let events = Observed<GlassesServer.Event>()

    init() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "gw-\(UUID().uuidString.prefix(8))").path
      host = try SigningKey()
      try PrivateFile.prepareFolder(folder)
      var hosts = PairedHosts()
      _ = hosts.add(try #require(PairedHosts.Host(name: "desk", key: host.publicKey)))
      try StoreFile<PairedHosts>("\(folder)/hosts.json").save(hosts)
      home = try GlassesHome(folder, name: "Lab")
      let agent = GlassesAgent(
        identity: GlassesIdentity(
          identifier: home.me.identifier.text, name: home.me.name, model: "", softwareVersion: "test"),
        timekeeper: SystemTimekeeper.shared, permissions: Everybody())
      agent.hardware.powerOn()
      agent.hardware.unfold()
      server = try GlassesServer(agent, home, listen: HostPort(host: "127.0.0.1", port: 0))
      try server.start { [events] in events.record($0) }
    }

    /// A link of a client with this certificate, which says this of itself.
    func link(_ identity: TLSIdentity, _ hello: Hello) -> LinkConnection {
      let timekeeper = SystemTimekeeper.shared
      let (addresses, pin) = (server.addresses, home.key.pin)
      return LinkConnection(
        endpoint: LinkEndpoint(hello: hello),
        transport: ResumableDialer.stream(timekeeper: timekeeper) {
          SecureTransport.dialing(
            over: TCPTransport(to: addresses), TLSConfiguration(.client(identity, agent: pin)), timekeeper: timekeeper)
        }, timekeeper: timekeeper, name: "client")
    }

    func app(_ identifier: String) throws -> TLSIdentity {
      let key = try SigningKey()
      let certificate = try Certificate.app(
        identifier, key: key.publicKey, signedBy: host, validity: .unlimited)
      return try #require(TLSIdentity(key: key, certificate: certificate))
    }

    var companion: TLSIdentity {
      get throws { try #require(TLSIdentity(key: host, certificate: Certificate.selfSigned(host, as: .host))) }
    }
  }

  private final class Everybody: AgentPermissions {
    func allowsCamera(app: String) -> Bool { true }
    func allowsMicrophone(app: String) -> Bool { true }
  }

  private func hello(_ role: LinkRole, _ purpose: LinkPurpose, _ identifier: String) -> Hello {
    Hello(
      role: role, purpose: purpose, capabilities: [], identifier: identifier, name: identifier, softwareVersion: "test",
      nonce: Nonce())
  }

  /// How a link ended; nil as long as it has not.
  private static func goodbye(_ events: [LinkEvent]) -> Goodbye? {
    guard case .closed(let close) = events.last, case .goodbye(let goodbye) = close.cause else { return nil }
    return goodbye
  }

  @Test("An app that claims to be another app, or a companion, is refused in words and gets no session")
  func impostors() async throws {
    let scene = try Scene()
    let cases: [(TLSIdentity, Hello)] = [
      (try scene.app("mail"), hello(.app, .media, "camera")),
      (try scene.app("mail"), hello(.companion, .control, "mail")),
      (try scene.app("mail"), hello(.app, .control, "mail")), (try scene.companion, hello(.app, .media, "desk")),
      (try scene.companion, hello(.companion, .media, "desk")),
    ]
    for (identity, hello) in cases {
      let link = scene.link(identity, hello)
      let events = Observed<LinkEvent>()
      link.send(.sessionOpen(SessionOpen(session: SessionID(1))))
      link.start { events.record($0) }
      try await events.wait("the refusal") { Self.goodbye($0) != nil }
      #expect(Self.goodbye(events.values)?.reason == .refused && Self.goodbye(events.values)?.text.isEmpty == false)
      #expect(!events.values.contains(.message(.sessionOpened(SessionOpened(session: SessionID(1))))))
    }
    #expect(scene.server.agent.sessionCount == 0)
    await scene.server.end()
  }

  @Test("A companion's link is for control: it opens no session, and may part, which ends its apps' links as well")
  func companion() async throws {
    let scene = try Scene()
    let app = scene.link(try scene.app("mail"), hello(.app, .media, "mail"))
    let (appEvents, greedyEvents, events) = (Observed<LinkEvent>(), Observed<LinkEvent>(), Observed<LinkEvent>())
    app.start { appEvents.record($0) }
    try await appEvents.wait("the app's link") { !$0.isEmpty }
    let greedy = scene.link(try scene.companion, hello(.companion, .control, "desk"))
    greedy.send(.sessionOpen(SessionOpen(session: SessionID(1))))
    greedy.start { greedyEvents.record($0) }
    try await greedyEvents.wait("the refusal") { Self.goodbye($0) != nil }
    #expect(Self.goodbye(greedyEvents.values)?.reason == .refused)
    let companion = scene.link(try scene.companion, hello(.companion, .control, "desk"))
    companion.start { events.record($0) }
    companion.send(.unpair(Unpair()))
    try await appEvents.wait("the app is told") { Self.goodbye($0) != nil }
    try await events.wait("the companion is told") { Self.goodbye($0) != nil }
    #expect(Self.goodbye(appEvents.values)?.reason == .unpaired && Self.goodbye(events.values)?.reason == .unpaired)
    #expect(scene.server.hosts.hosts.isEmpty)
    let late = scene.link(try scene.app("mail"), hello(.app, .media, "mail"))
    let lateEvents = Observed<LinkEvent>()
    late.start { lateEvents.record($0) }
    try await lateEvents.wait("nobody is let in") { !$0.isEmpty }
    let isClosed = if case .closed = lateEvents.values.first { true } else { false }
    #expect(isClosed, "\(lateEvents.values)")
    await scene.server.end()
  }

  @Test("A folder is one agent's; its files are its user's alone, and the name that was given last stays")
  func home() async throws {
    let scene = try Scene()
    #expect(throws: GlassesHomeError.inUse(path: scene.home.path)) { try GlassesHome(scene.home.path) }
    for file in ["key.pem", "glasses.json", "hosts.json", "control.sock"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(scene.home.path)/\(file)")
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(file)")
    }
    await scene.server.end()
    let again = try GlassesHome(scene.home.path)
    #expect(again.me == scene.home.me && again.key.pin == scene.home.key.pin && again.me.name == "Lab")
    #expect(throws: GlassesHomeError.badName) {
      try GlassesHome(scene.home.path + "-2", name: "a\u{1b}[2J")
    }
  }

  @Test("The control socket answers each line with one, and words that mean nothing with what is right")
  func control() async throws {
    let scene = try Scene()
    let control = ControlService(scene.server)
    try control.start()
    let transport = UnixTransport(to: "\(scene.home.path)/control.sock")
    let lines = Observed<String>()
    transport.open(
      TransportHandlers(
        received: { bytes in
          transport.consumed(bytes.count)
          for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") { lines.record(String(line)) }
        }, writable: {}, closed: { _ in lines.record("closed") }))
    func ask(_ line: String, _ count: Int) async throws -> String {
      transport.write(Array((line + "\n").utf8))
      try await lines.wait("an answer") { $0.count >= count }
      return lines.values[count - 1]
    }
    #expect(try await ask("{\"action\":\"battery\",\"value\":\"20\"}", 1) == "{}")
    #expect(try await ask("{\"action\":\"status\"}", 2).contains("\"battery\":20"))
    #expect(try await ask("{\"action\":\"hosts\"}", 3).contains("\"name\":\"desk\""))
    #expect(try await ask("{\"action\":\"fly\"}", 4).contains("is none of"))
    #expect(try await ask("rubbish", 5).contains("not a request"))
    #expect(try await ask("{\"action\":\"pair\"}", 6).contains("glasswing://pair"))
    #expect(scene.server.isPairing)
    #expect(try await ask(String(repeating: "x", count: 5000), 7) == "closed")
    await scene.server.end()
    withExtendedLifetime(control) {}
  }
}
