import CSockets
import LinkProtocol
import Synchronization

/// The process at the other end of a Unix socket, as the kernel noted it when it connected or began to listen.
package struct PeerCredentials: Hashable, Sendable {
  package let process: Int32
  package let user: UInt32
  package let group: UInt32
}

/// A connection over a Unix socket. Closed when it is released, in order.
package final class UnixTransport: ByteTransport {
  private let socket: StreamSocket
  private let path: String?
  private let options: StreamOptions
  private let reactor: SocketReactor
  private let failure = Mutex<SocketFailure?>(nil)

  /// One that connects when it is opened.
  package init(to path: String, options: StreamOptions = StreamOptions(), reactor: SocketReactor = .shared) {
    self.path = path
    self.options = options
    self.reactor = reactor
    socket = StreamSocket(.unix, descriptor: nil, options: options, reactor: reactor)
  }

  /// One that was accepted; the descriptor is owned from here on.
  init(accepted descriptor: Int32, options: StreamOptions, reactor: SocketReactor) {
    path = nil
    self.options = options
    self.reactor = reactor
    socket = StreamSocket(.unix, descriptor: descriptor, options: options, reactor: reactor)
  }

  deinit { close() }

  package func open(_ handlers: TransportHandlers) {
    guard socket.open(handlers), let path else { return }
    // A Unix socket is connected at once or not at all.
    let connector = SocketConnector(.unix, options: options, reactor: reactor) { [weak self, socket] result in
      switch result {
      case .success(let descriptor): socket.connected(descriptor)
      case .failure(let failure):
        self?.failure.withLock { $0 = failure }
        socket.failed(failure)
      }
    }
    do throws(SocketFailure) {
      connector.begin([try SystemAddress(path: path)])
    } catch {
      failure.withLock { $0 = error }
      socket.failed(error)
    }
  }

  package func write(_ bytes: [UInt8]) { socket.write(bytes) }
  package var writableBytes: Int { socket.writableBytes }
  package func consumed(_ byteCount: Int) { socket.consumed(byteCount) }
  package func close() { socket.close() }

  /// Why it did not come up. Set before `closed` is told.
  package var connectFailure: SocketFailure? { failure.withLock { $0 } }

  /// Who is at the other end; nil while there is no connection.
  package var peerCredentials: PeerCredentials? {
    socket.ask { descriptor in
      var peer = glasswing_peer()
      guard glasswing_peer_credentials(descriptor, &peer) >= 0 else { return nil }
      return PeerCredentials(process: peer.process, user: peer.user, group: peer.group)
    }
  }
}
