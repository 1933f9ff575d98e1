import LinkProtocol
import LinkTransport
import Synchronization
import TestSupport
import Testing
import Trust
import Units

@testable import GlassesAgent

/// Over real sockets on loopback.
@Suite("Pairing with glasses on a network", .exclusive(.mockKit))
struct PairingServiceTests {
  @Test("A host is on the disk before the glasses say that it is paired, and its code is good for nobody else")
  func paired() async throws {
    let glasses = try ServedGlasses()
    let uri = try glasses.server.openPairing()
    let (first, second) = (try HostParty(), try HostParty("second"))
    let stored = Mutex<[String]?>(nil)
    let call = try PairingCall(glasses, uri.offer, as: first) { event in
      guard case .message(.pairingAccepted) = event else { return }
      let hosts = try? glasses.storedHosts().map(\.name)
      stored.withLock { $0 = hosts }
    }
    #expect(try await call.isAccepted())
    #expect(stored.withLock { $0 } == ["desk"] && !glasses.server.isPairing)
    let late = try PairingCall(glasses, uri.offer, as: second)
    #expect(try await !late.isAccepted())
    #expect(try glasses.storedHosts().map(\.name) == ["desk"])
    #expect(ServedGlasses.failedPairings(glasses.events.values).isEmpty)
    await glasses.server.end()
  }

  @Test("Of two that know the secret at once, one is paired")
  func raced() async throws {
    let glasses = try ServedGlasses()
    let uri = try glasses.server.openPairing()
    let hosts = try (0..<4).map { try HostParty("host \($0)") }
    let calls = try hosts.map { try PairingCall(glasses, uri.offer, as: $0) }
    var accepted = 0
    for call in calls where try await call.isAccepted() { accepted += 1 }
    #expect(accepted == 1)
    #expect(try glasses.storedHosts().count == 1)
    await glasses.server.end()
  }

  @Test(
    "A host that signs with another key, or leaves before the end, is not paired; the code is dead, and people are told"
  )
  func unproved() async throws {
    let glasses = try ServedGlasses()
    let host = try HostParty()
    let forged = try PairingCall(glasses, try glasses.server.openPairing().offer, as: host, signer: try SigningKey())
    #expect(try await !forged.isAccepted())
    try await glasses.events.wait("the first failure") { ServedGlasses.failedPairings($0).count == 1 }
    #expect(!glasses.server.isPairing)
    let shy = try PairingCall(glasses, try glasses.server.openPairing().offer, as: host, asks: false)
    try await shy.events.wait("the glasses' hello") { !$0.isEmpty }
    shy.leave()
    try await glasses.events.wait("the second failure") { ServedGlasses.failedPairings($0).count == 2 }
    #expect(
      ServedGlasses.failedPairings(glasses.events.values) == [
        "the host has not shown that the key is its own", "the host left before the end",
      ])
    #expect(try glasses.storedHosts().isEmpty && !glasses.server.isPairing)
    await glasses.server.end()
  }

  @Test("Glasses with all the hosts they may have say so, and stay with them")
  func full() async throws {
    let hosts = try (0..<PairedHosts.most).map { try HostParty("host \($0)") }
    let glasses = try ServedGlasses(pairedWith: hosts)
    let call = try PairingCall(glasses, try glasses.server.openPairing().offer, as: try HostParty("one more"))
    #expect(try await !call.isAccepted())
    guard case .closed(let close) = call.events.values.last, case .goodbye(let goodbye) = close.cause else {
      Issue.record("\(call.events.values)")
      return
    }
    #expect(goodbye.reason == .refused && goodbye.text.contains("paired with 16 hosts"))
    #expect(try glasses.storedHosts().map(\.name) == hosts.map(\.name))
    await glasses.server.end()
  }

  @Test("Wrong secrets cost their address time, and never end the pairing")
  func wrongSecrets() async throws {
    let glasses = try ServedGlasses()
    let uri = try glasses.server.openPairing()
    let host = try HostParty()
    let wrong = PairingOffer(device: uri.device, secret: PairingSecret())
    for number in 1...4 {
      let call = try PairingCall(glasses, wrong, as: host)
      #expect(try await !call.isAccepted())
      try await glasses.events.wait("the failure") { ServedGlasses.turnedAway($0).count == number }
    }
    let blocked = SystemTimekeeper.shared.now
    // Three are free; after the fourth even the right one has to wait.
    #expect(try await !PairingCall(glasses, uri.offer, as: host).isAccepted())
    #expect(glasses.server.isPairing)
    try await glasses.events.wait("the refusal") { ServedGlasses.turnedAway($0).count == 5 }
    #expect(
      ServedGlasses.turnedAway(glasses.events.values).map { $0.contains("does not know the pairing's secret") }
        == [true, true, true, true, false])
    let lane = SystemTimekeeper.shared.makeLane("pause")
    defer { lane.end() }
    await SystemTimekeeper.shared.sleep(until: blocked + .milliseconds(1_050), on: lane)
    #expect(try await PairingCall(glasses, uri.offer, as: host).isAccepted())
    #expect(try glasses.storedHosts().map(\.name) == ["desk"])
    await glasses.server.end()
  }
}
