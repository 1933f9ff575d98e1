import LinkProtocol
import LinkTransport
import TestSupport
import Testing
import Units

// The leak checks of other tests count the process's descriptors, so those that open sockets take turns with them.
@Suite("Stream sockets", .exclusive(.mockKit))
struct StreamSocketTests {
  @Test("carry bytes both ways in order, also what is written before they are up", arguments: SocketKind.allCases)
  func order(_ kind: SocketKind) async throws {
    let listener = try SocketServer(kind)
    let client = SocketEnd(listener.client())
    #expect(client.transport.writableBytes == 0)
    client.open()
    // A second opening does nothing.
    client.transport.open(SocketEnd(client.transport).recording)
    client.transport.write([1])
    client.transport.write([])
    client.transport.write([2, 3])
    try await listener.accepted.wait { $0.count == 1 }
    let server = SocketEnd(listener.accepted.values[0])
    server.transport.write([9])
    server.open()
    try await server.waitFor(bytes: 3)
    #expect(server.received == [1, 2, 3])
    try await client.waitFor(bytes: 1)
    #expect(client.received == [9])
    #expect(client.happenings.values.first == .writable)
    #expect(client.transport.writableBytes > 0 && server.transport.writableBytes > 0)
    #expect(client.close == nil && server.close == nil)
  }

  @Test("close both ends once, after what was written, however much that is", arguments: SocketKind.allCases)
  func close(_ kind: SocketKind) async throws {
    let pair = try await JoinedSockets(kind)
    let bytes = PlacedBytes.bytes(0..<400_000)
    pair.client.transport.write(bytes)
    pair.client.transport.close()
    pair.client.transport.close()
    pair.client.transport.write([1])
    #expect(pair.client.happenings.values.last == .closed(.closedHere))
    #expect(pair.client.transport.writableBytes == 0)
    let (reader, closes) = (PlacedReader(), Observed<TransportClose>())
    let transport = pair.server.transport
    transport.open(
      TransportHandlers(
        received: { [weak transport] in
          reader.read($0)
          transport?.consumed($0.count)
        }, writable: {}, closed: { closes.record($0) }))
    #expect(try await closes.first() == .peerClosed)
    #expect(reader.count == bytes.count && reader.isIntact)
    transport.write([7])
    transport.close()
    #expect(closes.values == [.peerClosed])
    #expect(pair.client.happenings.values.filter { $0 == .closed(.closedHere) }.count == 1)
  }

  @Test("an end that is released is noticed", arguments: SocketKind.allCases)
  func vanishing(_ kind: SocketKind) async throws {
    let server: SocketEnd
    do {
      let pair = try await JoinedSockets(kind)
      server = pair.server
      server.open()
      pair.client.transport.write([5])
    }
    #expect(try await server.waitForClose() == .peerClosed)
    #expect(server.happenings.values.last == .closed(.peerClosed))
    #expect(server.received == [5])
  }

  @Test("a slow reader slows the writer; nothing is lost and little waits", arguments: SocketKind.allCases)
  func backpressure(_ kind: SocketKind) async throws {
    var options = StreamOptions()
    options.receiveLimit = .kibibytes(32)
    let total = 1_200_000
    let listener = try SocketServer(kind, options: options)
    let client = listener.client()
    let writer = PlacedWriter(client, total: total)
    client.open(
      TransportHandlers(received: { _ in }, writable: { [weak writer] in writer?.go() }, closed: { _ in }))
    try await listener.accepted.wait { $0.count == 1 }
    let server = listener.accepted.values[0]
    let reader = PlacedReader()
    server.open(TransportHandlers(received: { reader.read($0) }, writable: {}, closed: { _ in }))
    // Nothing is consumed: the reader gets its limit and no more.
    try await reader.totals.wait { ($0.last ?? 0) >= 32 * 1024 }
    #expect(reader.count == 32 * 1024)
    // Ahead of the reader are what the kernels hold and the mark, not the rest.
    #expect(writer.count < 800_000, "\(writer.count) of \(total)")
    while reader.count < total {
      let before = reader.count
      server.consumed(32 * 1024)
      try await reader.totals.wait { ($0.last ?? 0) > before }
      #expect(reader.count <= before + 32 * 1024)
    }
    #expect(reader.isIntact && reader.count == total && writer.count == total)
    withExtendedLifetime(client) {}
  }

  @Test("ends that have both closed are free without a deadline, whatever was not read", arguments: SocketKind.allCases)
  func free(_ kind: SocketKind) async throws {
    let name = "closing \(kind)"
    do {
      // The clock stands.
      let reactor = SocketReactor(name: name, timekeeper: ManualTimekeeper(), idleLimit: .milliseconds(20))
      var options = StreamOptions()
      options.receiveLimit = .kibibytes(4)
      let pair = try await JoinedSockets(kind, options: options, reactor: reactor)
      pair.server.transport.write([UInt8](repeating: 3, count: 20_000))
      try await pair.client.waitFor(bytes: 4096)
      pair.client.transport.close()
      pair.server.transport.close()
    }
    let after = await ProcessResources.settled(within: .seconds(60)) { $0.threads(named: name).isEmpty }
    #expect(after.threads(named: name).isEmpty, "\(after)")
  }

  @Test("what the peer does not take by the limit is given up, and the peer does not take that for an orderly end")
  func boundedLinger() async throws {
    let timekeeper = ManualTimekeeper()
    let pair = try await JoinedSockets(.ipv4, reactor: SocketReactor(timekeeper: timekeeper))
    pair.server.open()
    // More than the kernels hold.
    pair.client.transport.write([UInt8](repeating: 1, count: 20_000_000))
    pair.client.transport.close()
    #expect(pair.client.close == .closedHere)
    timekeeper.advance(by: .seconds(2))
    var total = 0
    while pair.server.close == nil {
      let before = pair.server.happenings.values.count
      pair.server.transport.consumed(pair.server.received.count - total)
      total = pair.server.received.count
      try await pair.server.happenings.wait { $0.count > before }
    }
    guard case .failed(let text) = pair.server.close else {
      Issue.record("closed with \(String(describing: pair.server.close))")
      return
    }
    #expect(text.contains("reset"), "\(text)")
    #expect(pair.server.received.count < 20_000_000)
  }

  @Test("calls one end's handlers one at a time, whoever writes and closes", arguments: SocketKind.allCases)
  func serial(_ kind: SocketKind) async throws {
    let pair = try await JoinedSockets(kind)
    let (detector, happenings) = (OverlapDetector(), Observed<Int>())
    let transport = pair.server.transport
    transport.open(
      TransportHandlers(
        received: { [weak transport] bytes in
          detector.run { happenings.record(bytes.count) }
          transport?.consumed(bytes.count)
        }, writable: { detector.run {} },
        closed: { _ in detector.run { happenings.record(-1) } }))
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          for number in 0..<100 {
            pair.client.transport.write([1, 2, 3])
            pair.server.transport.write([4])
            if number == 99 { pair.server.transport.close() }
          }
        }
      }
    }
    try await happenings.wait { $0.last == -1 }
    #expect(detector.overlaps == 0)
  }
}
