import LinkProtocol
import Testing
import Units

/// Two ends and the connections between them, one after the other.
@Suite struct ResumableStreamTests {
  /// A client, a server, and the bytes under way between them.
  private struct Pair {
    var client = ResumableStream()
    var server: ResumableStream
    var toServer: [UInt8] = []
    var toClient: [UInt8] = []
    /// Nil until the server has read the client's `begin` on this connection.
    var greeting: StreamRecordReader? = StreamRecordReader()
    var atServer: [UInt8] = []
    var atClient: [UInt8] = []
    var news: [ResumableStream.Output] = []

    init() {
      var generator = SystemRandomNumberGenerator()
      server = ResumableStream(token: StreamToken(from: &generator))
    }

    mutating func connect() {
      greeting = StreamRecordReader()
      fromClient(client.connected())
    }

    /// The connection breaks; what was under way is gone.
    mutating func cut() {
      client.disconnected()
      server.disconnected()
      toServer = []
      toClient = []
    }

    mutating func fromClient(_ outputs: [ResumableStream.Output]) {
      for output in outputs {
        switch output {
        case .send(let bytes): toServer += bytes
        case .deliver(let bytes): atClient += bytes
        case .attached, .refused, .ended: news.append(output)
        }
      }
    }

    mutating func fromServer(_ outputs: [ResumableStream.Output]) {
      for output in outputs {
        switch output {
        case .send(let bytes): toClient += bytes
        case .deliver(let bytes): atServer += bytes
        case .attached, .refused, .ended: news.append(output)
        }
      }
    }

    /// Carries so many bytes each way, at most.
    mutating func carry(_ most: Int = .max) throws {
      let up = Array(toServer.prefix(most))
      toServer.removeFirst(up.count)
      try serverReceives(up)
      let down = Array(toClient.prefix(most))
      toClient.removeFirst(down.count)
      fromClient(try client.received(down))
    }

    mutating func settle() throws {
      while !toServer.isEmpty || !toClient.isEmpty { try carry() }
    }

    private mutating func serverReceives(_ bytes: [UInt8]) throws {
      guard var reader = greeting else { return fromServer(try server.received(bytes)) }
      var position = 0
      let item = try reader.next(in: bytes, from: &position)
      greeting = reader
      guard case .record(.begin(_, let received)) = item else { return }
      greeting = nil
      fromServer(server.connected(received: received, reader: reader))
      fromServer(try server.received(Array(bytes[position...])))
    }
  }

  /// Bytes that tell their place.
  private func pattern(_ range: Range<Int>) -> [UInt8] { range.map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 7) } }

  @Test("A new stream gets its name, and bytes pass both ways")
  func firstConnection() throws {
    var pair = Pair()
    #expect(pair.client.room == 0 && pair.server.room == 0)
    pair.connect()
    try pair.settle()
    #expect(pair.news == [.attached(pair.server.token)] && pair.client.token == pair.server.token)
    #expect(pair.client.room == ResumableStream.window)
    pair.fromClient(pair.client.write([1, 2, 3]))
    pair.fromServer(pair.server.write([9, 8]))
    #expect(pair.toServer == [4, 0, 3, 1, 2, 3], "three bytes of head for each run")
    try pair.settle()
    #expect(pair.atServer == [1, 2, 3] && pair.atClient == [9, 8])
  }

  @Test("Whatever a break takes with it comes again, once and in order, also what was written meanwhile")
  func resumes() throws {
    var pair = Pair()
    pair.connect()
    try pair.settle()
    pair.fromClient(pair.client.write(pattern(0..<1000)))
    pair.fromServer(pair.server.write(pattern(0..<500)))
    try pair.carry(400)
    pair.cut()
    #expect(pair.client.room == 0, "what waits stays where it can be dropped")
    pair.fromClient(pair.client.write(pattern(1000..<1100)))
    pair.fromServer(pair.server.write(pattern(500..<600)))
    #expect(pair.toServer.isEmpty && pair.toClient.isEmpty)
    pair.connect()
    try pair.settle()
    #expect(pair.atServer == pattern(0..<1100) && pair.atClient == pattern(0..<600))
  }

  @Test("However often and wherever connections break, both ends read exactly what was written", arguments: 1...20)
  func randomBreaks(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var pair = Pair()
    var up = 0
    var down = 0
    pair.connect()
    for _ in 0..<200 {
      switch Int.random(in: 0..<10, using: &generator) {
      case 0:
        pair.cut()
        pair.connect()
      case 1, 2, 3:
        let count = Int.random(in: 1..<300, using: &generator)
        pair.fromClient(pair.client.write(pattern(up..<up + count)))
        up += count
      case 4, 5, 6:
        let count = Int.random(in: 1..<2000, using: &generator)
        pair.fromServer(pair.server.write(pattern(down..<down + count)))
        down += count
      case _: try pair.carry(Int.random(in: 1..<3000, using: &generator))
      }
    }
    pair.cut()
    pair.connect()
    try pair.settle()
    #expect(pair.atServer == pattern(0..<up) && pair.atClient == pattern(0..<down))
    // What arrived is forgotten, but for what one acknowledgement may leave open.
    #expect(pair.server.bytesUnderWay < ResumableStream.window / 8 + 2000)
  }

  @Test("A run that is longer than a record may be travels in several")
  func longRuns() throws {
    var pair = Pair()
    pair.connect()
    try pair.settle()
    pair.fromServer(pair.server.write(pattern(0..<70_000)))
    #expect(pair.toClient.count == 70_000 + 2 * 3)
    try pair.settle()
    #expect(pair.atClient == pattern(0..<70_000))
  }

  @Test("So much and no more may be on its way, and acknowledgements make room")
  func window() throws {
    var pair = Pair()
    pair.connect()
    try pair.settle()
    pair.fromServer(pair.server.write(Array(repeating: 1, count: ResumableStream.window)))
    #expect(pair.server.room == 0)
    try pair.settle()
    #expect(pair.server.room > ResumableStream.window - ResumableStream.window / 8)
  }

  @Test("The end arrives behind all bytes, and nothing after it")
  func end() throws {
    var pair = Pair()
    pair.connect()
    try pair.settle()
    pair.fromServer(pair.server.write([5]))
    pair.fromServer(pair.server.end())
    pair.fromServer(pair.server.write([6]))
    try pair.settle()
    #expect(pair.atClient == [5] && pair.news.last == .ended && pair.client.isOver && pair.server.isOver)
    #expect(pair.client.write([1]).isEmpty && pair.client.end().isEmpty)
  }

  @Test("A server that doesn't know the stream, or can't fit the counts, says so, and the client's stream is over")
  func refused() throws {
    var client = ResumableStream()
    _ = client.connected()
    #expect(try client.received(StreamRecord.refused(.unknownStream).encoded) == [.refused(.unknownStream)])
    #expect(client.isOver && client.connected().isEmpty)

    var pair = Pair()
    pair.connect()
    try pair.settle()
    #expect(
      pair.server.connected(received: 1, reader: StreamRecordReader())
        == [.send(StreamRecord.refused(.lost).encoded), .refused(.lost)])
    #expect(pair.server.isOver)
    #expect(
      pair.server.connected(received: 0, reader: StreamRecordReader())
        == [.send(StreamRecord.refused(.unknownStream).encoded)])
  }

  @Test("A peer that counts wrongly or says what has no place ends the stream with one error", arguments: 0..<7)
  func violations(_ index: Int) throws {
    var pair = Pair()
    if index > 2 {
      pair.connect()
      try pair.settle()
    } else {
      _ = pair.client.connected()
    }
    let other = StreamToken(Array(1...16)) ?? .none
    let bytes: [[UInt8]] = [
      StreamRecord.begun(.none, received: 0).encoded, StreamRecord.begun(other, received: 3).encoded,
      StreamRecord.data(length: 1).encoded + [7], StreamRecord.received(1).encoded,
      StreamRecord.begun(other, received: 0).encoded, StreamRecord.begin(other, received: 0).encoded, [99],
    ]
    #expect(throws: LinkProtocolError.self) { try pair.client.received(bytes[index]) }
    #expect(pair.client.isOver)
    #expect(try pair.client.received([4, 0, 1, 1]).isEmpty)
  }
}
