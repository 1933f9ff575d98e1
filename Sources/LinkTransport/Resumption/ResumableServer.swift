import LinkProtocol
import Synchronization
import Units

/// The server's side of resumable streams: tells new streams from those that go on, and brings each its connection.
///
/// A stream belongs to the peer that opened it: with another one's token nobody gets anywhere.
package final class ResumableServer<Peer: Hashable & Sendable>: Sendable {
  private struct Entry {
    let stream: ResumableTransport
    let peer: Peer
  }

  private struct State {
    var streams: [StreamToken: Entry] = [:]
    var generator: any RandomNumberGenerator & Sendable
    var isOver = false
  }

  /// How long a connection may take to say which stream it is for.
  private static var greetingDeadline: Duration { LinkLimits().helloDeadline }

  private let accepted: @Sendable (ResumableTransport, Peer) -> Void
  private let timekeeper: any Timekeeper
  private let lane: any Lane
  private let state: Mutex<State>

  /// - Parameters:
  ///   - generator: of tokens; tests give one of their own.
  ///   - accepted: takes a new stream, not opened yet. On the thread that brought its first record.
  package init(
    timekeeper: any Timekeeper, generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
    accepted: @escaping @Sendable (ResumableTransport, Peer) -> Void
  ) {
    self.timekeeper = timekeeper
    self.accepted = accepted
    lane = timekeeper.makeLane("gw-streams")
    state = Mutex(State(generator: generator))
  }

  deinit { lane.end() }

  /// Streams that are not over, with a connection or without.
  package var streamCount: Int { state.withLock { $0.streams.count } }

  /// Serves a connection of an authenticated peer. Any thread.
  package func accept(_ transport: any ByteTransport, from peer: Peer) {
    let greeting = Greeting(transport) { [weak self] token, received, reader in
      self?.begin(transport, peer, token, received, reader)
    }
    lane.run(at: timekeeper.now + Self.greetingDeadline) { [weak greeting] in greeting?.giveUp() }
    transport.open(
      TransportHandlers(
        received: { greeting.received($0) }, writable: { greeting.writable() }, closed: { _ in greeting.closed() }))
  }

  /// Ends all streams, and takes no more.
  package func end() {
    let streams = state.withLock { state in
      state.isOver = true
      return state.streams.values.map(\.stream)
    }
    for stream in streams { stream.close() }
    lane.end()
  }

  /// - Returns: the stream and its name for the connection; nil when there is none and the connection was told so.
  private func begin(
    _ transport: any ByteTransport, _ peer: Peer, _ token: StreamToken, _ received: UInt64, _ reader: StreamRecordReader
  ) -> Greeting.Carried? {
    if token != .none {
      let entry = state.withLock { $0.streams[token] }
      guard let entry, entry.peer == peer else {
        transport.write(StreamRecord.refused(.unknownStream).encoded)
        transport.close()
        return nil
      }
      return carry(entry.stream, transport, received, reader)
    }
    guard let stream = makeStream(for: peer) else {
      transport.close()
      return nil
    }
    let carried = carry(stream, transport, received, reader)
    accepted(stream, peer)
    return carried
  }

  private func carry(
    _ stream: ResumableTransport, _ transport: any ByteTransport, _ received: UInt64, _ reader: StreamRecordReader
  ) -> Greeting.Carried? {
    var carried: Greeting.Carried?
    stream.connect(transport, received: received, reader: reader) { carried = Greeting.Carried(stream, $0) }
    return carried
  }

  private func makeStream(for peer: Peer) -> ResumableTransport? {
    state.withLock { state in
      guard !state.isOver else { return nil }
      let token = StreamToken(from: &state.generator)
      let stream = ResumableTransport(
        ResumableStream(token: token),
        owner: ResumableTransport.Owner(over: { [weak self] in
          let entry = self?.state.withLock { $0.streams.removeValue(forKey: token) }
          withExtendedLifetime(entry) {}
        }))
      state.streams[token] = Entry(stream: stream, peer: peer)
      return stream
    }
  }
}

/// A connection on the server: until its first record, and then as one that carries a stream.
private final class Greeting: Sendable {
  struct Carried: Sendable {
    let stream: ResumableTransport
    let number: UInt64

    init(_ stream: ResumableTransport, _ number: UInt64) {
      self.stream = stream
      self.number = number
    }
  }

  private enum Phase {
    case reading(StreamRecordReader)
    case carrying(Carried)
    case over
  }

  private let transport: any ByteTransport
  private let begin: @Sendable (StreamToken, UInt64, StreamRecordReader) -> Carried?
  private let phase = Mutex(Phase.reading(StreamRecordReader()))

  init(
    _ transport: any ByteTransport,
    begin: @escaping @Sendable (StreamToken, UInt64, StreamRecordReader) -> Carried?
  ) {
    self.transport = transport
    self.begin = begin
  }

  /// One call at a time, as all of a transport's handlers.
  func received(_ bytes: [UInt8]) {
    enum Next { case nothing, pass(Carried), begin(StreamToken, UInt64, StreamRecordReader, from: Int), refuse }
    let next: Next = phase.withLock { phase in
      switch phase {
      case .over: return .nothing
      case .carrying(let carried): return .pass(carried)
      case .reading(var reader):
        var position = 0
        do throws(LinkProtocolError) {
          guard let item = try reader.next(in: bytes, from: &position) else {
            phase = .reading(reader)
            return .nothing
          }
          guard case .record(.begin(let token, let received)) = item else { return .refuse }
          return .begin(token, received, reader, from: position)
        } catch {
          return .refuse
        }
      }
    }
    switch next {
    case .nothing: transport.consumed(bytes.count)
    case .refuse: giveUp()
    case .pass(let carried): carried.stream.received(bytes, on: carried.number)
    case .begin(let token, let received, let reader, let position):
      transport.consumed(position)
      guard let carried = begin(token, received, reader) else { return giveUp() }
      phase.withLock { $0 = .carrying(carried) }
      if position < bytes.count { carried.stream.received(Array(bytes[position...]), on: carried.number) }
    }
  }

  func writable() {
    guard case .carrying(let carried) = phase.withLock({ $0 }) else { return }
    carried.stream.writable(on: carried.number)
  }

  func closed() {
    let old = phase.withLock { phase in
      defer { phase = .over }
      return phase
    }
    if case .carrying(let carried) = old { _ = carried.stream.closed(carried.number) }
  }

  /// No stream was asked for, in time or in order.
  func giveUp() {
    let isWaiting = phase.withLock { phase in
      guard case .reading = phase else { return false }
      phase = .over
      return true
    }
    if isWaiting { transport.close() }
  }
}
