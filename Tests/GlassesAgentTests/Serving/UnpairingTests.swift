import LinkProtocol
import LinkTransport
import TestSupport
import Testing
import Trust
import Units

@testable import GlassesAgent

/// Over real sockets on loopback.
@Suite("Glasses and those who came by a host that is unpaired", .exclusive(.mockKit))
struct UnpairingTests {
  @Test(
    "A host that parts is forgotten on the disk, and all that came by it is ended, those without a connection as well")
  func unpaired() async throws {
    let (host, other) = (try HostParty(), try HostParty("other"))
    let glasses = try ServedGlasses(pairedWith: [host, other])
    let companion = Caller(glasses, as: host.identity, .calling(.companion, .control))
    let app = Caller(glasses, as: try host.app("app"), .calling(.app))
    let lost = Caller(glasses, as: try host.app("lost"), .calling(.app, identifier: "lost"))
    let stays = Caller(glasses, as: try other.app("app"), .calling(.app))
    for caller in [companion, app, lost, stays] { try await caller.opened() }
    lost.lose()
    companion.link.send(.unpair(Unpair()))
    #expect(try await companion.goodbye()?.reason == .unpaired)
    #expect(try await app.goodbye()?.reason == .unpaired)
    try await glasses.events.wait("the ends of three links") { ServedGlasses.closedLinks($0) == 3 }
    // At once, and not by their silence.
    #expect(ServedGlasses.closedLinks(glasses.events.values) { $0 == .silent } == 0)
    #expect(
      glasses.agent.linkCount == 1 && !stays.events.values.contains { if case .closed = $0 { true } else { false } })
    #expect(try glasses.storedHosts().map(\.name) == ["other"])
    // And it does not come back.
    let again = Caller(glasses, as: try host.app("app"), .calling(.app))
    #expect(try await again.goodbye() == nil && !again.hasOpened)
    await glasses.server.end()
  }

  @Test("Whoever was still shaking hands when its host was unpaired gets no link")
  func unpairedMeanwhile() async throws {
    let host = try HostParty()
    let glasses = try ServedGlasses(pairedWith: [host])
    let caller = Caller(glasses, as: try host.app("app"), .calling(.app), isHeld: true)
    let connection = try await caller.dialed.first("a connection")
    try await connection.ready.wait("the handshake") { !$0.isEmpty }
    #expect(try glasses.server.unpair(host.key.pin))
    connection.letGo()
    try await caller.events.wait("an answer") { !$0.isEmpty }
    #expect(!caller.hasOpened)
    #expect(glasses.agent.linkCount == 0)
    await glasses.server.end()
  }

  @Test("Glasses that end say goodbye to all")
  func ended() async throws {
    let host = try HostParty()
    let glasses = try ServedGlasses(pairedWith: [host])
    let callers = [
      Caller(glasses, as: host.identity, .calling(.companion, .control)),
      Caller(glasses, as: try host.app("app"), .calling(.app)),
    ]
    for caller in callers { try await caller.opened() }
    await glasses.server.end()
    for caller in callers { #expect(try await caller.goodbye()?.reason == .poweringOff) }
  }
}
