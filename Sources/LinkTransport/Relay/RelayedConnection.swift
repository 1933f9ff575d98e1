import LinkProtocol
import Synchronization
import Units

/// One connection of a relay: what either side sends goes to the other through the conditioner. Sides are named by the
/// transport that reads them.
final class RelayedConnection: Sendable {
  private enum Side { case client, server }

  private struct State {
    var totals = RelayTotals()
    /// By the side that they came from: taken, and not yet acknowledged to its socket, which reads no more meanwhile.
    var owed: [Side: Int] = [:]
    var ended: (@Sendable (RelayTotals, TransportClose) -> Void)?
  }

  /// The ends as the conditioner has them.
  private let client: any ByteTransport
  private let server: any ByteTransport
  private let transports: [any ByteTransport]
  private let state = Mutex(State())

  init(client: any ByteTransport, server: any ByteTransport, through conditioner: LinkConditioner) {
    transports = [client, server]
    // The client is the app, so what is written to it travels `.toApp`: that end is the conditioner's "glasses", which
    // hold the transport that leads to the app.
    let ends = conditioner.join(app: server, glasses: client, carrying: .bytes)
    self.server = ends.app
    self.client = ends.glasses
  }

  /// - Parameter ended: once, when either side has ended; what waits for the other is still on its way.
  func begin(_ ended: @escaping @Sendable (RelayTotals, TransportClose) -> Void) {
    state.withLock { $0.ended = ended }
    for side in [Side.client, .server] {
      end(side).open(
        TransportHandlers(
          received: { self.received($0, from: side) }, writable: { self.settle(with: self.other(side)) },
          closed: { self.closed(side, $0) }))
    }
  }

  /// At once.
  func end() {
    for transport in transports {
      // Nothing is owed to anybody any more.
      if let socket = transport as? TCPTransport { socket.abort() } else { transport.close() }
    }
    client.close()
    server.close()
  }

  private func received(_ bytes: [UInt8], from side: Side) {
    state.withLock { state in
      state.owed[side, default: 0] += bytes.count
      switch side {
      case .client: state.totals.fromClient = state.totals.fromClient.addingSaturating(bytes.count)
      case .server: state.totals.fromServer = state.totals.fromServer.addingSaturating(bytes.count)
      }
    }
    end(other(side)).write(bytes)
    settle(with: side)
  }

  /// Lets a side send on, once there is room where its bytes go. A look at the room that finds none is what the other
  /// end's `writable` answers.
  private func settle(with side: Side) {
    guard end(other(side)).writableBytes > 0 else { return }
    let owed = state.withLock { $0.owed.removeValue(forKey: side) ?? 0 }
    if owed > 0 { end(side).consumed(owed) }
  }

  private func closed(_ side: Side, _ cause: TransportClose) {
    let (ended, totals) = state.withLock { ($0.ended.take(), $0.totals) }
    // In order, behind what waits for it.
    end(other(side)).close()
    end(side).close()
    ended?(totals, cause)
  }

  private func end(_ side: Side) -> any ByteTransport {
    switch side {
    case .client: client
    case .server: server
    }
  }

  private func other(_ side: Side) -> Side {
    switch side {
    case .client: .server
    case .server: .client
    }
  }
}
