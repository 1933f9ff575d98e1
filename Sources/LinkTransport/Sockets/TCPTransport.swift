import Glibc
import LinkProtocol
import Synchronization
import Units

/// A TCP connection. Closed when it is released, in order.
package final class TCPTransport: ByteTransport {
  private enum Destination {
    case addresses([SocketAddress])
    case host(HostPort)
  }

  let socket: StreamSocket
  private let destination: Destination?
  private let options: StreamOptions
  private let reactor: SocketReactor
  private let connection = Mutex(Connection())

  private struct Connection {
    var connector: SocketConnector?
    var failure: SocketFailure?
    var isClosed = false
  }

  /// One that connects, when it is opened, to the first of the addresses that answers; they are begun one after the other,
  /// 250 ms apart or when one has failed.
  package init(
    to addresses: [SocketAddress], options: StreamOptions = StreamOptions(), reactor: SocketReactor = .shared
  ) {
    destination = .addresses(addresses)
    self.options = options
    self.reactor = reactor
    socket = StreamSocket(.tcp, descriptor: nil, options: options, reactor: reactor)
  }

  /// One that connects, when it is opened, to a host by its name.
  package init(to host: HostPort, options: StreamOptions = StreamOptions(), reactor: SocketReactor = .shared) {
    destination = .host(host)
    self.options = options
    self.reactor = reactor
    socket = StreamSocket(.tcp, descriptor: nil, options: options, reactor: reactor)
  }

  /// One that was accepted; the descriptor is owned from here on.
  init(
    accepted descriptor: Int32, options: StreamOptions, reactor: SocketReactor, strangerLimit: ByteCount? = nil,
    hooks: StreamSocket.Hooks = StreamSocket.Hooks()
  ) {
    destination = nil
    self.options = options
    self.reactor = reactor
    socket = StreamSocket(
      .tcp, descriptor: descriptor, options: options, reactor: reactor, strangerLimit: strangerLimit, hooks: hooks)
  }

  deinit { close() }

  package func open(_ handlers: TransportHandlers) {
    guard socket.open(handlers), let destination else { return }
    let connector = SocketConnector(.tcp, options: options, reactor: reactor) { [weak self, socket] result in
      switch result {
      case .success(let descriptor): socket.connected(descriptor)
      case .failure(let failure):
        self?.connection.withLock { $0.failure = failure }
        socket.failed(failure)
      }
    }
    let isWanted = connection.withLock { connection in
      if !connection.isClosed { connection.connector = connector }
      return !connection.isClosed
    }
    guard isWanted else { return }
    switch destination {
    case .addresses(let addresses): connector.begin(addresses.map(\.system))
    case .host(let host): connector.begin(host)
    }
  }

  package func write(_ bytes: [UInt8]) { socket.write(bytes) }
  package var writableBytes: Int { socket.writableBytes }
  package func consumed(_ byteCount: Int) { socket.consumed(byteCount) }

  package func close() {
    cancelConnecting()
    socket.close()
  }

  /// Ends it at once, without what was written: for a peer to whom nothing is owed. It sees a reset.
  package func abort() {
    cancelConnecting()
    socket.abort()
  }

  private func cancelConnecting() {
    let connector = connection.withLock { connection in
      connection.isClosed = true
      return connection.connector.take()
    }
    connector?.cancel()
  }

  /// Why it did not come up: each address that was tried, and what became of it. Set before `closed` is told.
  package var connectFailure: SocketFailure? { connection.withLock { $0.failure } }

  /// nil while there is no connection.
  package var localAddress: SocketAddress? { socket.ask(SocketCalls.localAddress) }

  /// nil while there is no connection.
  package var peerAddress: SocketAddress? { socket.ask(SocketCalls.peerAddress) }

  /// The kernel's congestion control for this connection, such as `bbr` or `cubic`; nil while there is none.
  package var congestionControl: String? { socket.ask(StreamKind.congestionControl) }
}
