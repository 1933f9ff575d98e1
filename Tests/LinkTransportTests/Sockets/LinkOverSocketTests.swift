import LinkProtocol
import LinkTransport
import TestSupport
import Testing
import Units

extension LinkEvent {
  fileprivate var closeCause: LinkClose.Cause? { if case .closed(let close) = self { close.cause } else { nil } }
  fileprivate var unit: ReceivedUnit? { if case .accessUnit(let unit) = self { unit } else { nil } }
  fileprivate var message: Message? { if case .message(let message) = self { message } else { nil } }
}

@Suite("Links over sockets", .exclusive(.mockKit))
struct LinkOverSocketTests {
  private struct Pair {
    let app: LinkConnection
    let glasses: LinkConnection
    let appEvents = Observed<LinkEvent>()
    let glassesEvents = Observed<LinkEvent>()

    init(_ kind: SocketKind, options: StreamOptions = StreamOptions()) async throws {
      let server = try SocketServer(kind, options: options)
      defer { server.stop() }
      app = LinkConnection(
        endpoint: LinkEndpoint(hello: .testApp), transport: server.client(), timekeeper: SystemTimekeeper.shared,
        name: "socket app")
      // Queued before the connection is up.
      app.send(.sessionOpen(SessionOpen(session: SessionID(1))))
      app.start { [appEvents] in appEvents.record($0) }
      try await server.accepted.wait { $0.count == 1 }
      glasses = LinkConnection(
        endpoint: LinkEndpoint(hello: .testGlasses), transport: server.accepted.values[0],
        timekeeper: SystemTimekeeper.shared, name: "socket glasses")
      glasses.start { [glassesEvents] in glassesEvents.record($0) }
    }
  }

  @Test("open, carry messages, pictures and photos whole, and close with a goodbye", arguments: SocketKind.allCases)
  func wholeLife(_ kind: SocketKind) async throws {
    let pair = try await Pair(kind)
    try await pair.glassesEvents.wait { !$0.compactMap(\.message).isEmpty }
    #expect(pair.glassesEvents.values.first == .opened(.testApp))
    #expect(pair.glassesEvents.values.compactMap(\.message) == [.sessionOpen(SessionOpen(session: SessionID(1)))])
    let photo = PlacedBytes.bytes(0..<400_000)
    pair.glasses.send(photo: PhotoID(1), bytes: photo)
    var sent: [AccessUnit] = []
    for index in 0..<30 {
      let unit = AccessUnit.test([.sync, .parameterSets], bytes: 5000 + index)
      sent.append(unit)
      pair.glasses.send(unit)
      // Paced by the receiver, so that the queue's age limit has no say.
      try await pair.appEvents.wait { $0.compactMap(\.unit).count == index + 1 }
    }
    #expect(pair.appEvents.values.compactMap(\.unit).map(\.unit) == sent)
    try await pair.appEvents.wait { $0.contains(.photo(PhotoID(1), bytes: photo)) }
    pair.app.close(Goodbye(reason: .finished, text: "bye"))
    try await pair.glassesEvents.wait { $0.last?.closeCause != nil }
    try await pair.appEvents.wait { $0.last?.closeCause != nil }
    #expect(pair.appEvents.values.last?.closeCause == .finished)
    #expect(pair.glassesEvents.values.last?.closeCause == .goodbye(Goodbye(reason: .finished, text: "bye")))
  }

  @Test("a slow reader leaves the queue with the sender, where it is dropped and counted (PERF-2)")
  func backpressure() async throws {
    // A peer that says hello and then does not read.
    let server = try SocketServer(.ipv4)
    let glasses = LinkConnection(
      endpoint: LinkEndpoint(hello: .testGlasses), transport: server.client(), timekeeper: SystemTimekeeper.shared,
      name: "socket glasses")
    let events = Observed<LinkEvent>()
    glasses.start { events.record($0) }
    try await server.accepted.wait { $0.count == 1 }
    let peer = server.accepted.values[0]
    peer.open(TransportHandlers(received: { _ in }, writable: {}, closed: { _ in }))
    var endpoint = LinkEndpoint(hello: .testApp)
    let now = SystemTimekeeper.shared.now
    endpoint.opened(at: now)
    let hello = endpoint.nextBytes(atMost: 1000, at: now)
    peer.write(try #require(hello))
    try await events.wait { !$0.isEmpty }
    let (sync, unit) = (AccessUnit.test([.sync, .parameterSets], bytes: 20_000), AccessUnit.test(bytes: 20_000))
    let lane = SystemTimekeeper.shared.makeLane("slow reader")
    defer { lane.end() }
    var sent = 0
    while !events.values.contains(where: { if case .videoDropped = $0 { true } else { false } }) {
      glasses.send(sent == 0 ? sync : unit)
      sent += 1
      try #require(sent < 20_000)
      // A camera's pace, more or less: what waits must grow old.
      await SystemTimekeeper.shared.sleep(until: SystemTimekeeper.shared.now + .milliseconds(10), on: lane)
    }
    #expect(glasses.statistics.droppedVideoUnits > 0)
    glasses.close(Goodbye(reason: .finished))
    try await events.wait { $0.last?.closeCause != nil }
    #expect(events.values.last?.closeCause == .finished)
  }

  @Test("an app that vanishes without a goodbye ends the link, with what its transport says")
  func vanishing() async throws {
    let server = try SocketServer(.ipv4)
    let events = Observed<LinkEvent>()
    let client = SocketEnd(server.client())
    client.open()
    try await server.accepted.wait { $0.count == 1 }
    let glasses = LinkConnection(
      endpoint: LinkEndpoint(hello: .testGlasses), transport: server.accepted.values[0],
      timekeeper: SystemTimekeeper.shared, name: "socket glasses")
    glasses.start { events.record($0) }
    try await client.waitFor(bytes: 10)
    client.transport.close()
    try await events.wait { $0.last?.closeCause != nil }
    #expect(events.values.last?.closeCause == .transport(.peerClosed))
  }
}
