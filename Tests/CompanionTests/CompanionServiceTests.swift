import Foundation
import LinkProtocol
import LinkTransport
import MWDATCore
import Synchronization
import TestSupport
import Testing
import Trust
import Units

@testable import Companion

/// The companion at its socket, and programs that use it.
@Suite("The companion's service", .exclusive(.mockKit))
struct CompanionServiceTests {
  private func makeFolder() -> CompanionFolder {
    CompanionFolder(FileManager.default.temporaryDirectory.appending(path: "gw-\(UUID().uuidString.prefix(8))").path)
  }

  private func client(
    _ folder: CompanionFolder, changed: @escaping @Sendable () -> Void = {}
  ) -> CompanionClient {
    let client = CompanionClient(
      timekeeper: SystemTimekeeper.shared, dial: CompanionEnvironment.dialer(folder),
      hello: { .app(nil, purpose: .control) },
      changed: changed)
    client.start()
    return client
  }

  @Test("One process serves a folder, which is its user's alone; a second one is told so")
  func alone() throws {
    let folder = makeFolder()
    let service = try CompanionService(folder)
    #expect(throws: CompanionError.alreadyRunning) { try CompanionService(folder) }
    for (path, mode) in [(folder.path, 0o700), (folder.hostKey, 0o600), (folder.socket, 0o600)] {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == mode, "\(path)")
    }
    service.end()
    // The key stays: glasses know this host by it.
    let again = try CompanionService(folder)
    #expect(again.companion.host.key.pin == service.companion.host.key.pin)
  }

  @Test("A program is certified without asking, for its own key and name")
  func certifies() async throws {
    let folder = makeFolder()
    let service = try CompanionService(folder)
    let changes = Observed<Bool>()
    let held = Held()
    let client = client(folder) { changes.record(held.client?.identity != nil) }
    held.client = client
    #expect(await client.joined(within: .seconds(60)))
    try await changes.wait("a certificate") { $0.contains(true) }
    let identity = try #require(client.identity)
    // Glasses that know this host take the app for what it says it is.
    let agent = try SigningKey()
    let door = try TLSEngine(
      TLSConfiguration(
        .agent(
          try #require(TLSIdentity(key: agent, certificate: Certificate.selfSigned(agent, as: .agent))),
          hosts: [service.companion.host.key.publicKey], pairing: nil)))
    let app = try TLSEngine(TLSConfiguration(.client(identity, agent: agent.pin)))
    var peer: TLSPeer?
    var toDoor = app.start().bytes
    _ = door.start()
    for _ in 0..<8 where peer == nil {
      let answer = door.receive(toDoor)
      for case .established(let proved) in answer.events { peer = proved }
      toDoor = app.receive(answer.bytes).bytes
    }
    guard case .app(let identifier, _, let host) = peer else {
      Issue.record("\(String(describing: peer))")
      return
    }
    #expect(identifier == Hello.app(nil).identifier && host == service.companion.host.key.pin)
    client.end()
  }

  private final class Held: Sendable {
    private let state = Mutex<CompanionClient?>(nil)
    var client: CompanionClient? {
      get { state.withLock { $0 } }
      set { state.withLock { $0 = newValue } }
    }
  }

  @Test("When a companion ends, another one takes its place, and programs that use it go on")
  func takesOver() async throws {
    let folder = makeFolder()
    let changes = Observed<Void>()
    let client = client(folder) { changes.record(()) }
    let first = try CompanionService(folder)
    #expect(await client.joined(within: .seconds(60)))
    first.end()
    let second = try CompanionService(folder)
    // What was asked of the first one, or between the two, has no answer.
    var answer: CompanionAnswer?
    for _ in 0..<20 where answer == nil {
      #expect(await client.joined(within: .seconds(60)))
      answer = await client.answer { .unpairGlasses(UnpairGlasses(number: $0, identifier: "gw-1")) }
    }
    #expect(answer?.outcome == .notPaired)
    #expect(client.isRemembered && client.listings.isEmpty)
    client.end()
    second.end()
  }

  @Test("What is no pairing code is told as such; without a companion there is no answer")
  func answers() async throws {
    let folder = makeFolder()
    let service = try CompanionService(folder)
    let client = client(folder)
    #expect(await client.joined(within: .seconds(60)))
    let answer = await client.answer { .pairGlasses(PairGlasses(number: $0, uri: "http://example.org")) }
    #expect(answer?.outcome == .badURI && answer?.text.isEmpty == false)
    service.end()
    client.end()
    #expect(await client.answer { .pairGlasses(PairGlasses(number: $0, uri: "")) } == nil)
    #expect(await client.joined(within: .seconds(60)) == false)
  }

  @Test("Damaged glasses are set aside and said, and the host's key stays")
  func damaged() throws {
    let folder = makeFolder()
    let pin = try CompanionService(folder).companion.host.key.pin
    try Data("{".utf8).write(to: URL(filePath: folder.glasses))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.glasses)
    let service = try CompanionService(folder)
    #expect(service.companion.warning?.contains("set aside") == true)
    #expect(service.companion.host.key.pin == pin)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.hostKey)
    service.end()
    #expect(throws: CompanionError.self) { try CompanionService(folder) }
  }
}
