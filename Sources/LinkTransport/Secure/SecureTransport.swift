import LinkProtocol
import Synchronization
import Trust
import Units

/// TLS 1.3 over any transport: nothing passes, in either direction, before the peer is known.
///
/// Joins a `TLSEngine` to a transport. Takes the bytes of a connection that is up or coming up; `writable` tells when the
/// peer is known. Encrypting and decrypting happen on the threads that bring the bytes.
package final class SecureTransport: ByteTransport {
  private enum Step: Sendable {
    case write([UInt8])
    case deliver([UInt8])
    case consumed(Int)
    case established(TLSPeer)
    case writable
    case over(TransportClose)
  }

  /// What a portion of the connection gave: so many plain bytes of so many encrypted ones.
  private struct Share {
    let encrypted: Int
    var plain: Int
  }

  /// Unchecked Sendable: it lives in this object's mutex and nowhere else.
  private struct State: @unchecked Sendable {
    let engine: TLSEngine
    var peer: TLSPeer?
    var failure: TLSError?
    /// What the reader has not consumed.
    var shares = FIFO<Share>()
    var hasBegun = false
    var isOver = false
    /// The peer has said that it is done.
    var isFinished = false
    var deadline: LaneTimer?
    /// Called once, when the peer is known.
    var established: (@Sendable (TLSPeer) -> Void)?
    /// Called once, at the end.
    var closed: (@Sendable (TLSPeer?, TransportClose) -> Void)?
  }

  /// From the first byte to knowing the peer. A handshake takes two round trips.
  package static let handshakeDeadline: Duration = .seconds(5)
  /// What TLS adds to a record, of at most 16 KiB (RFC 8446, 5.2): its head, the type of what is inside, and the tag.
  private static let recordOverhead = 5 + 1 + 16
  private static let record = 16_384

  private let inner: any ByteTransport
  private let courier = Courier()
  private let steps = Sequencer<Step>()
  private let timekeeper: any Timekeeper
  private let state: Mutex<State>

  /// - Parameter inner: the connection, not opened yet.
  ///
  /// Throws when OpenSSL can't do what the configuration asks.
  package init(
    over inner: any ByteTransport, _ configuration: TLSConfiguration, timekeeper: any Timekeeper
  ) throws(TLSError) {
    self.inner = inner
    self.timekeeper = timekeeper
    state = Mutex(State(engine: try TLSEngine(configuration)))
  }

  deinit {
    inner.close()
    let (peer, closed) = state.withLock { ($0.peer, $0.closed.take()) }
    closed?(peer, .closedHere)
  }

  /// Who is at the other end; nil before that is proved.
  package var peer: TLSPeer? { state.withLock { $0.peer } }

  /// Why TLS ended it; nil before, and where something else did. Set before `closed` is told.
  package var failure: TLSError? { state.withLock { $0.failure } }

  /// As `TLSEngine.exportedKey`: nil before the peer is known and after the end.
  package func exportedKey(_ label: String) -> [UInt8]? {
    state.withLock { $0.isOver ? nil : $0.engine.exportedKey(label) }
  }

  /// Begins without a reader: the server's way, which first has to know whom to give the connection to.
  ///
  /// - Parameters:
  ///   - lane: where the deadline is kept; it may be shared by many connections.
  ///   - established: called once when the peer is known, if it ever is. `open` then, or `close`.
  ///   - closed: called once at the end, after the reader, with the peer, if it was ever known, and the cause.
  package func begin(
    on lane: any Lane, established: @escaping @Sendable (TLSPeer) -> Void,
    closed: @escaping @Sendable (TLSPeer?, TransportClose) -> Void = { _, _ in }
  ) {
    let begins = state.withLock { state in
      guard !state.hasBegun, !state.isOver else { return false }
      state.hasBegun = true
      state.established = established
      state.closed = closed
      return true
    }
    guard begins else { return }
    let timer = lane.run(at: timekeeper.now + Self.handshakeDeadline) { [weak self] in self?.giveUp() }
    let isLate = state.withLock { state in
      if !state.isOver, state.peer == nil { state.deadline = timer }
      return state.deadline == nil
    }
    if isLate { timer.cancel() }
    inner.open(
      TransportHandlers(
        received: { [weak self] bytes in self?.received(bytes) },
        writable: { [weak self] in self?.innerWritable() },
        closed: { [weak self] cause in self?.innerClosed(cause) }))
    act { $0.engine.start() }
  }

  // MARK: - ByteTransport

  /// Begins as a client, or gives the connection its reader.
  package func open(_ handlers: TransportHandlers) {
    courier.open(handlers)
    let hasBegun = state.withLock { $0.hasBegun }
    guard !hasBegun else { return }
    let lane = timekeeper.makeLane("gw-handshake")
    begin(on: lane, established: { _ in lane.end() }, closed: { _, _ in lane.end() })
  }

  package func write(_ bytes: [UInt8]) {
    act { state in
      // Before the peer is known nobody may write; the engine takes it for a fault.
      state.isOver ? nil : state.engine.send(bytes)
    }
  }

  package var writableBytes: Int {
    guard state.withLock({ $0.peer != nil && !$0.isOver }) else { return 0 }
    let room = inner.writableBytes
    return max(0, room - (room / Self.record + 1) * Self.recordOverhead)
  }

  package func consumed(_ byteCount: Int) {
    state.withLock { state in
      var left = byteCount
      while left > 0, var first = state.shares.first {
        let count = min(left, first.plain)
        left -= count
        first.plain -= count
        state.shares.replaceFirst(with: first.plain > 0 ? first : nil)
        if first.plain == 0 { steps.append(.consumed(first.encrypted)) }
      }
    }
    drain()
  }

  package func close() {
    act { state in
      guard !state.isOver else { return nil }
      let output = state.engine.close()
      if !output.bytes.isEmpty { steps.append(.write(output.bytes)) }
      end(&state, .closedHere)
      return nil
    }
  }

  // MARK: - The connection

  private func received(_ bytes: [UInt8]) {
    act { state in
      guard !state.isOver else { return nil }
      let output = state.engine.receive(bytes)
      let plain = output.events.reduce(0) { sum, event in
        if case .received(let bytes) = event { sum + bytes.count } else { sum }
      }
      if plain > 0 {
        state.shares.append(Share(encrypted: bytes.count, plain: plain))
      } else {
        steps.append(.consumed(bytes.count))
      }
      return output
    }
  }

  private func innerWritable() {
    state.withLock { state in
      if state.peer != nil { steps.append(.writable) }
    }
    drain()
  }

  private func innerClosed(_ cause: TransportClose) {
    act { state in
      // Whoever cuts a connection could make an end of it that looks like the peer's (RFC 8446, 6.1).
      let isCut = cause == .peerClosed && !state.isFinished
      end(&state, isCut ? .failed("the connection was cut") : cause)
      return nil
    }
  }

  private func giveUp() {
    act { state in
      guard state.peer == nil else { return nil }
      end(&state, .failed("the other end did not prove who it is in time"))
      return nil
    }
  }

  // MARK: - Carrying out

  private func act(_ input: (inout State) -> TLSOutput?) {
    state.withLock { state in
      guard let output = input(&state) else { return }
      if !output.bytes.isEmpty { steps.append(.write(output.bytes)) }
      for event in output.events {
        switch event {
        case .established(let peer):
          state.peer = peer
          state.deadline?.cancel()
          state.deadline = nil
          steps.append(.established(peer))
          steps.append(.writable)
        case .received(let bytes): steps.append(.deliver(bytes))
        case .closed:
          state.isFinished = true
          end(&state, .peerClosed)
        case .failed(let error):
          state.failure = error
          end(&state, .failed(error.description))
        }
      }
    }
    drain()
  }

  /// With the lock held.
  private func end(_ state: inout State, _ cause: TransportClose) {
    guard !state.isOver else { return }
    state.isOver = true
    state.deadline?.cancel()
    state.deadline = nil
    state.shares.removeAll()
    steps.append(.over(cause))
  }

  private func drain() {
    steps.drain { step in
      switch step {
      case .write(let bytes): inner.write(bytes)
      case .deliver(let bytes): courier.deliver(.received(bytes))
      case .consumed(let count): inner.consumed(count)
      case .established(let peer):
        let established = state.withLock { $0.established.take() }
        established?(peer)
      case .writable: courier.deliver(.writable)
      case .over(let cause):
        let (established, closed, peer) = state.withLock { ($0.established.take(), $0.closed.take(), $0.peer) }
        withExtendedLifetime(established) {}
        inner.close()
        courier.deliver(.closed(cause))
        closed?(peer, cause)
      }
    }
  }
}
