import LinkProtocol
import Synchronization
import Trust

/// The way into glasses from a network: whoever knocks has to prove who it is, and then gets a stream that outlives its
/// connections, or pairs.
///
/// Strangers are bounded by the listener (`Admission`); this adds the handshake and hands on by who proved what.
package final class SecureDoor: Sendable {
  private let listener: GuardedListener
  private let streams: ResumableServer<TLSPeer>
  private let configuration: @Sendable () -> TLSConfiguration
  private let paired: @Sendable (SecureTransport, SocketAddress) -> Void
  private let failed: @Sendable (SocketAddress, TransportClose) -> Void
  private let timekeeper: any Timekeeper
  /// Where the deadlines of handshakes are kept.
  private let lane: any Lane

  /// - Parameters:
  ///   - streams: takes apps and companions.
  ///   - configuration: asked for each connection, so that it can follow who is paired and whether pairing is open.
  ///   - paired: takes a peer that has proved a pairing's secret. The connection goes when it is let go of.
  ///   - failed: a peer left, or was sent away, before it was known, and why: what pairing's limits are counted by. All
  ///     three are called on the thread that brought the last bytes and must not keep it.
  package init(
    _ listener: GuardedListener, streams: ResumableServer<TLSPeer>, timekeeper: any Timekeeper,
    configuration: @escaping @Sendable () -> TLSConfiguration,
    paired: @escaping @Sendable (SecureTransport, SocketAddress) -> Void,
    failed: @escaping @Sendable (SocketAddress, TransportClose) -> Void = { _, _ in }
  ) {
    self.listener = listener
    self.streams = streams
    self.timekeeper = timekeeper
    self.configuration = configuration
    self.paired = paired
    self.failed = failed
    lane = timekeeper.makeLane("gw-door")
  }

  deinit { lane.end() }

  /// Begins to accept. Once.
  package func start() throws(SocketFailure) {
    try listener.start { [weak self] guest in self?.greet(guest) }
  }

  /// No connection comes in any more; those that are known go on.
  package func stop() { listener.stop() }

  private func greet(_ guest: GuardedListener.Guest) {
    // Without memory for a handshake the guest is let go of, which closes it.
    guard let secure = try? SecureTransport(over: guest.transport, configuration(), timekeeper: timekeeper) else {
      return
    }
    let address = guest.peer
    // Until the peer is known or gone, the transport is held by what it is to call then.
    secure.begin(
      on: lane, established: { [weak self] peer in self?.admit(peer, secure, guest) },
      closed: { [failed] peer, cause in if peer == nil { failed(address, cause) } })
  }

  private func admit(_ peer: TLSPeer, _ secure: SecureTransport, _ guest: GuardedListener.Guest) {
    guard guest.authenticated() else { return secure.close() }
    switch peer {
    case .app, .companion: streams.accept(secure, from: peer)
    case .pairing: paired(secure, guest.peer)
    // Only a client meets glasses.
    case .agent: secure.close()
    }
  }
}
