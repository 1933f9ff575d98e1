import LinkProtocol
import Synchronization
import Units

/// A resumable stream as a transport: the bytes of a link, whatever happens to the connections under them
/// (docs/protocol.md, 10).
///
/// Joins a `ResumableStream` to the connection of the moment. A `ResumableClient` or a `ResumableServer` brings the
/// connections. The transport ends when its owner or the peer's ends it, or when the server doesn't know it any more; being
/// without a connection ends nothing: the link above notices silence, and closes when that lasts.
package final class ResumableTransport: ByteTransport {
  /// A connection that carries, or is to carry, the stream.
  struct Connection: Sendable {
    let number: UInt64
    let transport: any ByteTransport
  }

  /// What was decided under the lock and is carried out in that order outside it.
  private enum Step: Sendable {
    case write([UInt8], any ByteTransport)
    case deliver([UInt8])
    case consumed(Int, any ByteTransport)
    case close(any ByteTransport)
    case writable
    case attached
    case over(TransportClose)
  }

  /// Bytes that a connection has brought.
  private struct Share {
    let connection: UInt64
    let count: Int

    init(_ connection: UInt64, _ count: Int) {
      self.connection = connection
      self.count = count
    }
  }

  private struct State {
    var stream: ResumableStream
    var connection: Connection?
    var nextNumber: UInt64 = 0
    /// Bytes that the reader has not consumed, and the connections that brought them.
    var unconsumed = FIFO<Share>()
    var isOver = false
  }

  /// What brings connections hears of the stream's life. Called in order, with no lock held.
  struct Owner: Sendable {
    var opened: @Sendable () -> Void = {}
    var attached: @Sendable () -> Void = {}
    /// Bytes came on the connection that carries the stream.
    var heard: @Sendable () -> Void = {}
    var over: @Sendable () -> Void = {}
  }

  private let courier = Courier()
  private let steps = Sequencer<Step>()
  private let owner: Owner
  private let state: Mutex<State>

  init(_ stream: ResumableStream, owner: Owner) {
    self.owner = owner
    state = Mutex(State(stream: stream))
  }

  deinit { state.withLock { $0.connection }?.transport.close() }

  package var token: StreamToken { state.withLock { $0.stream.token } }
  /// Whether a connection carries the stream now.
  package var isCarried: Bool { state.withLock { $0.stream.isAttached } }

  // MARK: - ByteTransport

  package func open(_ handlers: TransportHandlers) {
    courier.open(handlers)
    owner.opened()
  }

  package func write(_ bytes: [UInt8]) { act { $0.stream.write(bytes) } }

  package var writableBytes: Int {
    let (room, connection) = state.withLock { ($0.stream.room, $0.connection) }
    guard room > 0, let connection else { return 0 }
    return max(0, min(room, connection.transport.writableBytes - StreamRecord.dataHeadLength))
  }

  package func consumed(_ byteCount: Int) {
    act { state in
      var left = byteCount
      while left > 0, let first = state.unconsumed.first {
        let count = min(left, first.count)
        left -= count
        state.unconsumed.replaceFirst(with: count < first.count ? Share(first.connection, first.count - count) : nil)
        if let connection = state.connection, connection.number == first.connection {
          steps.append(.consumed(count, connection.transport))
        }
      }
      return []
    }
  }

  package func close() { finish(.closedHere) { $0.stream.end() } }

  // MARK: - Connections

  /// On the client: asks the server for the stream on a connection that is up. An earlier connection is given up.
  ///
  /// - Parameter named: takes the connection's number, before anything is written to it.
  func connect(_ transport: any ByteTransport, named: (UInt64) -> Void) {
    take(transport, named) { $0.stream.connected() }
  }

  /// On the server: goes on with the stream on a connection whose `begin` has been read.
  func connect(
    _ transport: any ByteTransport, received: UInt64, reader: StreamRecordReader, named: (UInt64) -> Void
  ) {
    take(transport, named) { $0.stream.connected(received: received, reader: reader) }
  }

  private func take(
    _ transport: any ByteTransport, _ named: (UInt64) -> Void, _ input: (inout State) -> [ResumableStream.Output]
  ) {
    act { state in
      guard !state.isOver else {
        steps.append(.close(transport))
        return []
      }
      if let old = state.connection { steps.append(.close(old.transport)) }
      state.nextNumber += 1
      state.connection = Connection(number: state.nextNumber, transport: transport)
      named(state.nextNumber)
      state.stream.disconnected()
      return input(&state)
    }
  }

  /// Bytes came on a connection; of one that was given up they count for nothing.
  func received(_ bytes: [UInt8], on number: UInt64) {
    var isHeard = false
    act { state in
      guard let connection = state.connection, connection.number == number else { return [] }
      isHeard = true
      do throws(LinkProtocolError) {
        let outputs = try state.stream.received(bytes)
        let delivered = outputs.reduce(0) { sum, output in
          if case .deliver(let bytes) = output { sum + bytes.count } else { sum }
        }
        if delivered > 0 { state.unconsumed.append(Share(number, delivered)) }
        // Heads of records are nobody's but ours.
        if bytes.count > delivered { steps.append(.consumed(bytes.count - delivered, connection.transport)) }
        return outputs
      } catch {
        end(&state, .failed(error.description))
        return []
      }
    }
    if isHeard { owner.heard() }
  }

  /// The connection takes more.
  func writable(on number: UInt64) {
    act { state in
      if state.connection?.number == number { steps.append(.writable) }
      return []
    }
  }

  /// A connection is gone.
  ///
  /// - Returns: whether it was the one that carries the stream.
  func closed(_ number: UInt64) -> Bool {
    state.withLock { state in
      guard let connection = state.connection, connection.number == number, !state.isOver else { return false }
      state.connection = nil
      state.stream.disconnected()
      return true
    }
  }

  /// The stream is over for a reason that its owner has found.
  func fail(_ words: String) { finish(.failed(words)) { _ in [] } }

  // MARK: - Carrying out

  private func finish(_ cause: TransportClose, _ input: (inout State) -> [ResumableStream.Output]) {
    act { state in
      guard !state.isOver else { return [] }
      for output in input(&state) {
        if case .send(let bytes) = output, let transport = state.connection?.transport {
          steps.append(.write(bytes, transport))
        }
      }
      end(&state, cause)
      return []
    }
  }

  private func act(_ input: (inout State) -> [ResumableStream.Output]) {
    state.withLock { state in
      let room = state.stream.room
      for output in input(&state) {
        switch output {
        case .send(let bytes):
          if let transport = state.connection?.transport { steps.append(.write(bytes, transport)) }
        case .deliver(let bytes): steps.append(.deliver(bytes))
        case .attached: steps.append(.attached)
        case .refused(let refusal): end(&state, .failed(Self.words(refusal)))
        case .ended: end(&state, .peerClosed)
        }
      }
      let half = ResumableStream.window / 2
      if room < half, state.stream.room >= half { steps.append(.writable) }
    }
    drain()
  }

  /// With the lock held.
  private func end(_ state: inout State, _ cause: TransportClose) {
    guard !state.isOver else { return }
    state.isOver = true
    _ = state.stream.end()
    if let connection = state.connection { steps.append(.close(connection.transport)) }
    state.connection = nil
    state.unconsumed.removeAll()
    steps.append(.over(cause))
  }

  private func drain() {
    steps.drain { step in
      switch step {
      case .write(let bytes, let transport): transport.write(bytes)
      case .deliver(let bytes): courier.deliver(.received(bytes))
      case .consumed(let count, let transport): transport.consumed(count)
      case .close(let transport): transport.close()
      case .writable: courier.deliver(.writable)
      case .attached: owner.attached()
      case .over(let cause):
        courier.deliver(.closed(cause))
        owner.over()
      }
    }
  }

  private static func words(_ refusal: StreamRecord.Refusal) -> String {
    switch refusal {
    case .unknownStream: "the other end doesn't know the connection any more: it was restarted, or has given it up"
    case .lost: "the two ends don't agree on what has arrived"
    case .other: "the other end doesn't go on with the connection"
    }
  }
}
