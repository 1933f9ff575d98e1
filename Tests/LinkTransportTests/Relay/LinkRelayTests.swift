import LinkProtocol
import TestSupport
import Testing
import Units

@testable import LinkTransport

@Suite("Relay")
struct LinkRelayTests {
  /// A server, a relay in front of it, and clients.
  private final class World {
    let conditioner = LinkConditioner(timekeeper: SystemTimekeeper.shared, seed: 1)
    let events = Observed<LinkRelay.Event>()
    let server: SocketServer
    let relay: LinkRelay

    init(to target: HostPort? = nil) throws {
      server = try SocketServer(.ipv4)
      relay = try LinkRelay(
        on: HostPort(host: "127.0.0.1", port: 0), to: target ?? HostPort(host: "127.0.0.1", port: server.port),
        through: conditioner
      ) { [events] in events.record($0) }
      try relay.start()
    }

    deinit {
      relay.stop()
      server.stop()
    }

    func client() -> SocketEnd {
      let end = SocketEnd(TCPTransport(to: relay.addresses))
      end.open()
      return end
    }

    /// Both ends of the way through the relay.
    func join() async throws -> (client: SocketEnd, server: SocketEnd) {
      let count = server.accepted.values.count
      let client = client()
      try await server.accepted.wait("connection") { $0.count > count }
      let far = SocketEnd(server.accepted.values[count])
      far.open()
      return (client, far)
    }

    func waitForEnd(_ number: Int) async throws -> (RelayTotals, TransportClose) {
      @Sendable func ends(_ events: [LinkRelay.Event]) -> [(RelayTotals, TransportClose)] {
        events.compactMap { if case .ended(number, let totals, let cause) = $0 { (totals, cause) } else { nil } }
      }
      try await events.wait("end of \(number)") { !ends($0).isEmpty }
      return try #require(ends(events.values).first)
    }
  }

  @Test("bytes go both ways whole, and an end follows what was sent before it")
  func forwarding() async throws {
    let world = try World()
    let (client, server) = try await world.join()
    let up = PlacedBytes.bytes(0..<40_000)
    let down = PlacedBytes.bytes(7..<200_007)
    client.transport.write(up)
    try await server.waitFor(bytes: up.count)
    server.transport.consumed(up.count)
    world.conditioner.setLatency(.milliseconds(40))
    server.transport.write(down)
    server.transport.close()
    try await client.waitFor(bytes: down.count)
    #expect(try await client.waitForClose() == .peerClosed)
    #expect(server.received == up && client.received == down)
    let (totals, cause) = try await world.waitForEnd(1)
    #expect(totals == RelayTotals(fromClient: up.count, fromServer: down.count) && cause == .peerClosed)
    #expect(world.relay.connectionCount == 0)
  }

  @Test("a capped way carries its rate and takes its time, and nobody else's way is capped")
  func rate() async throws {
    let world = try World()
    world.conditioner.setCondition(LinkCondition(rate: .kilobitsPerSecond(1600), latency: .milliseconds(30)))
    let (client, server) = try await world.join()
    let begin = SystemTimekeeper.shared.now
    // 300 ms of the rate.
    server.transport.write([UInt8](repeating: 5, count: 60_000))
    client.transport.write([1])
    try await server.waitFor(bytes: 1)
    try await client.waitFor(bytes: 60_000)
    #expect(SystemTimekeeper.shared.now - begin >= .milliseconds(325))
  }

  @Test(
    "a way that is held, or a reader that doesn't read, stops the sender after a bounded amount, and none of it is lost"
  )
  func backPressure() async throws {
    let clock = ManualTimekeeper()
    let conditioner = LinkConditioner(timekeeper: clock, seed: 1)
    let near = MemoryLink.makePair(timekeeper: clock, capacity: 65_536)
    let far = MemoryLink.makePair(timekeeper: clock, capacity: 65_536)
    let connection = RelayedConnection(client: near.glasses, server: far.app, through: conditioner)
    connection.begin { _, _ in }
    let reader = SocketEnd(near.app)
    reader.open()
    far.glasses.open(TransportHandlers(received: { _ in }, writable: {}, closed: { _ in }))
    var written = 0
    func fill() {
      while far.glasses.writableBytes > 0 {
        let count = min(4096, far.glasses.writableBytes)
        far.glasses.write(PlacedBytes.bytes(written..<written + count))
        written += count
      }
    }
    conditioner.hold(.toApp)
    fill()
    // What the conditioner holds, and what waits on either side of it.
    #expect(ConditionedFlow.heldCapacity..<ConditionedFlow.heldCapacity + 2 * 65_536 ~= written)
    conditioner.release(.toApp)
    fill()
    // Now it is the reader that does nothing.
    #expect(written < ConditionedFlow.heldCapacity + 4 * 65_536)
    var read = 0
    while read < reader.received.count {
      let count = reader.received.count - read
      read += count
      reader.transport.consumed(count)
      clock.advance(by: .milliseconds(1))
    }
    #expect(reader.received == PlacedBytes.bytes(0..<written))
    connection.end()
    #expect(reader.close == .peerClosed)
  }

  @Test("a cut ends each connection at both sides, refused ones end at once, and accepted ones work again")
  func cutAndRefuse() async throws {
    let world = try World()
    let first = try await world.join()
    world.conditioner.refuse(true)
    world.conditioner.cut()
    _ = try await first.client.waitForClose()
    _ = try await first.server.waitForClose()
    let refused = world.client()
    _ = try await refused.waitForClose()
    #expect(try await world.waitForEnd(2).1 == .failed("the link was refused by a fault"))
    world.conditioner.refuse(false)
    let second = try await world.join()
    second.client.transport.write([1, 2, 3])
    try await second.server.waitFor(bytes: 3)
  }

  @Test("half-open: nothing comes and nothing ends, until it is released; then all of it, and the end")
  func halfOpen() async throws {
    let world = try World()
    let (client, server) = try await world.join()
    client.transport.write([1])
    try await server.waitFor(bytes: 1)
    world.conditioner.hold(.toGlasses)
    client.transport.write([2])
    client.transport.close()
    // The relay has seen the end, so what came before it as well.
    #expect(try await world.waitForEnd(1).0.fromClient == 2)
    #expect(server.received == [1] && server.close == nil)
    world.conditioner.release(.toGlasses)
    #expect(try await server.waitForClose() == .peerClosed)
    #expect(server.received == [1, 2])
  }

  @Test("a target that nobody serves ends the connection, with the reason")
  func noTarget() async throws {
    let free = try SocketServer(.ipv4)
    let port = free.port
    free.stop()
    let world = try World(to: HostPort(host: "127.0.0.1", port: port))
    let client = world.client()
    _ = try await client.waitForClose()
    guard case .failed(let text) = try await world.waitForEnd(1).1 else {
      Issue.record("no failure")
      return
    }
    #expect(text.contains("127.0.0.1:\(port)"))
  }

  @Test("stopping ends all connections")
  func stopping() async throws {
    let world = try World()
    let (client, server) = try await world.join()
    world.relay.stop()
    _ = try await client.waitForClose()
    _ = try await server.waitForClose()
    #expect(world.relay.connectionCount == 0)
  }
}
