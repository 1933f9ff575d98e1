import LinkProtocol
import Synchronization
import Units

/// Forwards TCP connections to another address through a conditioner: a bad network between two processes of one machine.
/// It sees bytes, encrypted or not, and never looks at them.
///
/// Each connection that is accepted has one of its own to the target. What comes from the target travels `.toApp`, what
/// comes from the client `.toGlasses`, as where an app connects to glasses. Memory is bounded: what can't travel on is not
/// read, so that the sender feels it, and more than `connectionLimit` connections are closed at once.
///
/// Ends when it is stopped or released, with all its connections.
package final class LinkRelay: Sendable {
  package enum Event: Sendable {
    /// Numbered from 1.
    case accepted(Int, peer: SocketAddress)
    /// With the bytes that came from each side.
    case ended(Int, RelayTotals, cause: TransportClose)
    /// Too many at once.
    case turnedAway(peer: SocketAddress)
  }

  package static let connectionLimit = 256

  /// Little is kept in the kernel on either side: what waits there would be a queue that no condition bounds.
  package static let options: StreamOptions = {
    var options = StreamOptions()
    options.unsentLimit = .kibibytes(16)
    options.receiveLimit = .kibibytes(16)
    options.kernelReceiveLimit = .kibibytes(16)
    options.segmentLimit = .bytes(ConditionedFlow.segmentBytes)
    return options
  }()

  /// Where it listens, with the port that the system chose where 0 was asked for.
  package var addresses: [SocketAddress] { listener.addresses }

  private struct State {
    var connections: [Int: RelayedConnection] = [:]
    var accepted = 0
    var isStopped = false
  }

  private let listener: TCPListener
  private let target: HostPort
  private let conditioner: LinkConditioner
  private let reactor: SocketReactor
  private let events: @Sendable (Event) -> Void
  private let state = Mutex(State())

  /// Binds; `start` accepts.
  ///
  /// - Parameters:
  ///   - target: looked up for each connection.
  ///   - events: any thread; must not block.
  package init(
    on address: HostPort, to target: HostPort, through conditioner: LinkConditioner, reactor: SocketReactor = .shared,
    events: @escaping @Sendable (Event) -> Void
  ) throws(SocketFailure) {
    listener = try TCPListener(on: address, options: Self.options, reactor: reactor)
    self.target = target
    self.conditioner = conditioner
    self.reactor = reactor
    self.events = events
  }

  deinit { stop() }

  package func start() throws(SocketFailure) {
    try listener.start { [weak self] transport, peer in self?.accepted(transport, peer) }
  }

  /// Ends each connection as it is; what was under way is gone. Idempotent.
  package func stop() {
    listener.stop()
    let connections = state.withLock { state in
      state.isStopped = true
      return state.connections.values.map { $0 }
    }
    for connection in connections { connection.end() }
  }

  /// Up now.
  package var connectionCount: Int { state.withLock { $0.connections.count } }

  private func accepted(_ client: TCPTransport, _ peer: SocketAddress) {
    let number: Int? = state.withLock { state in
      guard !state.isStopped, state.connections.count < Self.connectionLimit else { return nil }
      state.accepted += 1
      return state.accepted
    }
    guard let number else {
      client.abort()
      events(.turnedAway(peer: peer))
      return
    }
    let server = TCPTransport(to: target, options: Self.options, reactor: reactor)
    let connection = RelayedConnection(client: client, server: server, through: conditioner)
    state.withLock { $0.connections[number] = connection }
    events(.accepted(number, peer: peer))
    connection.begin { [weak self] totals, cause in
      guard let self else { return }
      state.withLock { _ = $0.connections.removeValue(forKey: number) }
      events(.ended(number, totals, cause: cause))
    }
    if state.withLock({ $0.isStopped }) { connection.end() }
  }
}

/// Bytes that came from each side of a relayed connection.
package struct RelayTotals: Hashable, Sendable {
  package var fromClient = 0
  package var fromServer = 0
}
