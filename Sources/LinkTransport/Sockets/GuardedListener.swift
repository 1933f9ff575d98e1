import Glibc
import LinkProtocol
import Synchronization
import Units

/// A TCP listener for strangers: what it hands over counts as unauthenticated, with a place among a few and a deadline,
/// until its owner says otherwise. See `Admission` for who has to go when.
package final class GuardedListener: Sendable {
  /// A connection that was let in to say who it is.
  package final class Guest: Sendable {
    /// Not opened.
    package let transport: any ByteTransport
    package let peer: SocketAddress
    private let isAdmitted: @Sendable () -> Bool

    fileprivate init(
      _ transport: any ByteTransport, peer: SocketAddress, isAdmitted: @escaping @Sendable () -> Bool
    ) {
      self.transport = transport
      self.peer = peer
      self.isAdmitted = isAdmitted
    }

    /// It is who it has to be: it may stay, and receive at full size. False where its time was up before: then it is
    /// closed.
    package func authenticated() -> Bool { isAdmitted() }
  }

  private struct State {
    var admission: Admission
    var sockets: [Admission.Ticket: WeakSocket] = [:]
    var timer: LaneTimer?
    var timerDeadline = Instant.distantFuture
  }

  /// Held by its transport, and after that by the reactor while it is being closed.
  private struct WeakSocket {
    weak var socket: StreamSocket?
  }

  private let listener: TCPListener
  private let limits: Admission.Limits
  private let options: StreamOptions
  private let reactor: SocketReactor
  private let state: Mutex<State>

  package init(
    _ listener: TCPListener, limits: Admission.Limits = Admission.Limits(), options: StreamOptions = StreamOptions(),
    reactor: SocketReactor = .shared
  ) {
    self.listener = listener
    self.limits = limits
    self.options = options
    self.reactor = reactor
    state = Mutex(State(admission: Admission(limits)))
  }

  deinit {
    stop()
    // Nobody would tell them that their time is up.
    for socket in state.withLock({ $0.sockets.values.compactMap(\.socket) }) { socket.abort() }
  }

  package var addresses: [SocketAddress] { listener.addresses }
  package var counts: Admission.Counts { state.withLock { $0.admission.counts } }
  package var unauthenticated: Int { state.withLock { $0.admission.unauthenticated } }

  /// Begins to accept. Once. The handler is called on the reactor's thread and must not keep it; a guest that it lets go of
  /// is closed.
  package func start(_ accepted: @escaping @Sendable (Guest) -> Void) throws(SocketFailure) {
    try listener.startRaw { [weak self] descriptor, peer in
      guard let self else {
        close(descriptor)
        return
      }
      accepted(admit(descriptor, peer))
    }
  }

  /// As `TCPListener.stop`; guests that have not been authenticated go on until their deadline.
  package func stop() { listener.stop() }

  private func admit(_ descriptor: Int32, _ peer: SocketAddress) -> Guest {
    // In one step, so that nobody's time is up before it is known here.
    let (ticket, transport, displaced) = state.withLock { state in
      let arrival = state.admission.arrived(from: peer, at: reactor.timekeeper.now)
      let ticket = arrival.ticket
      let transport = TCPTransport(
        accepted: descriptor, options: options, reactor: reactor, strangerLimit: limits.receiveLimit,
        hooks: StreamSocket.Hooks(
          spoke: { [weak self] in self?.state.withLock { $0.admission.spoke(ticket) } },
          released: { [weak self] in self?.closed(ticket) }))
      state.sockets[ticket] = WeakSocket(socket: transport.socket)
      return (ticket, transport, arrival.displaced.flatMap { state.sockets.removeValue(forKey: $0)?.socket })
    }
    displaced?.abort()
    keepTime()
    return Guest(transport, peer: peer) { [weak self, weak socket = transport.socket] in
      guard let self, let socket, authenticated(ticket) else { return false }
      socket.trust()
      return true
    }
  }

  private func authenticated(_ ticket: Admission.Ticket) -> Bool {
    state.withLock { state in
      state.sockets[ticket] = nil
      return state.admission.authenticated(ticket)
    }
  }

  private func closed(_ ticket: Admission.Ticket) {
    state.withLock { state in
      state.sockets[ticket] = nil
      state.admission.closed(ticket)
    }
  }

  private func keepTime() {
    state.withLock { state in
      guard let next = state.admission.nextDeadline, next < state.timerDeadline else { return }
      state.timerDeadline = next
      // What falls due first stays first, so an earlier timer is never replaced.
      state.timer = reactor.deadlines.run(at: next) { [weak self] in self?.timeout() }
    }
  }

  private func timeout() {
    let expired = state.withLock { state in
      state.timerDeadline = .distantFuture
      return state.admission.timeout(at: reactor.timekeeper.now).compactMap {
        state.sockets.removeValue(forKey: $0)?.socket
      }
    }
    for socket in expired { socket.abort() }
    keepTime()
  }
}
