import Glibc
import LinkProtocol
import Units

/// Accepts TCP connections. Stops when it is released.
package final class TCPListener: Sendable {
  /// Where it listens; with the port that the system chose where 0 was asked for.
  package let addresses: [SocketAddress]

  private let sockets: [ListeningSocket]
  private let options: StreamOptions
  private let reactor: SocketReactor

  /// How often a port that the system chose for a name's first address is sought anew because another of its addresses has
  /// it taken.
  private static let portAttempts = 8

  /// Binds, so that clients may connect; `start` accepts them. `[::]` takes IPv4 as well.
  ///
  /// A name is looked up, which may block; it listens on all the name's addresses, on one port. Port 0 lets the system choose
  /// one. A port that an ended process has left is taken at once.
  package convenience init(
    on host: HostPort, options: StreamOptions = StreamOptions(), reactor: SocketReactor = .shared
  ) throws(SocketFailure) {
    try self.init(on: NameResolver.addresses(of: host), options: options, reactor: reactor)
  }

  package init(
    on addresses: [SocketAddress], options: StreamOptions = StreamOptions(), reactor: SocketReactor = .shared
  ) throws(SocketFailure) {
    self.options = options
    self.reactor = reactor
    sockets = try Self.bind(addresses, options, reactor: reactor)
    self.addresses = sockets.compactMap { $0.ask(SocketCalls.localAddress) }
  }

  /// Begins to accept. Once. The handler is called on the reactor's thread and must not keep it; a transport that it lets
  /// go of is closed.
  package func start(
    _ accepted: @escaping @Sendable (TCPTransport, _ peer: SocketAddress) -> Void
  ) throws(SocketFailure) {
    try startRaw { [options, reactor] descriptor, peer in
      accepted(TCPTransport(accepted: descriptor, options: options, reactor: reactor), peer)
    }
  }

  /// As `start`, with the descriptor, which the handler owns.
  func startRaw(_ accepted: @escaping @Sendable (Int32, SocketAddress) -> Void) throws(SocketFailure) {
    for socket in sockets {
      try socket.start { descriptor, storage in
        guard let peer = SocketAddress(storage) else {
          close(descriptor)
          return
        }
        accepted(descriptor, peer)
      }
    }
  }

  /// No connection is accepted after it has returned; one that was is still handed over. Idempotent. What was accepted goes
  /// on.
  package func stop() { for socket in sockets { socket.stop() } }

  /// How often accepting had to rest for want of a descriptor or of memory.
  package var pauses: Int { sockets.reduce(0) { $0 + $1.pauses } }

  private static func bind(
    _ addresses: [SocketAddress], _ options: StreamOptions, reactor: SocketReactor
  ) throws(SocketFailure) -> [ListeningSocket] {
    guard let first = addresses.first else { throw .noAddress }
    var attempts = portAttempts
    while true {
      var bound = [try bind(first, options, reactor: reactor)]
      let port = bound[0].ask(SocketCalls.localAddress)?.port ?? first.port
      do throws(SocketFailure) {
        for address in addresses.dropFirst() {
          bound.append(try bind(address.port == 0 ? address.with(port: port) : address, options, reactor: reactor))
        }
        return bound
      } catch {
        for socket in bound { socket.stop() }
        attempts -= 1
        guard case .system(_, _, EADDRINUSE) = error, first.port == 0, attempts > 0 else { throw error }
      }
    }
  }

  private static func bind(
    _ address: SocketAddress, _ options: StreamOptions, reactor: SocketReactor
  ) throws(SocketFailure) -> ListeningSocket {
    let system = address.system
    let descriptor = try SocketCalls.make(system.family, for: system.text)
    SocketCalls.set(SO_REUSEADDR, level: SOL_SOCKET, of: descriptor, to: 1)
    // Only the address that means all takes both families.
    if address.isIPv6 {
      SocketCalls.set(
        IPV6_V6ONLY, level: Int32(IPPROTO_IPV6), of: descriptor,
        to: address.host == .ipv6(high: 0, low: 0, zone: 0) ? 0 : 1)
    }
    // Accepted connections inherit it; on them it would come after the window was announced.
    StreamKind.tcp.prepare(descriptor, options)
    guard system.withPointer({ Glibc.bind(descriptor, $0, $1) }) == 0 else {
      let code = errno
      close(descriptor)
      throw .system("bind", subject: system.text, code: code)
    }
    return try ListeningSocket(descriptor, subject: system.text, reactor: reactor)
  }
}
