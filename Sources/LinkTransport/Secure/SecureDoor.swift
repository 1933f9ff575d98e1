import LinkProtocol
import Synchronization
import Trust

/// The way into glasses from a network: whoever knocks has to prove who it is, and then gets a stream that outlives its
/// connections, or pairs.
///
/// Strangers are bounded by the listener (`Admission`); this adds the handshake and hands on by who proved what.
package final class SecureDoor: Sendable {
  /// What one connection may do.
  package struct Terms: Sendable {
    package var configuration: TLSConfiguration
    /// The permission to try to pair, where the configuration offers it.
    package var pairing: PairingWindow.Attempt?

    package init(_ configuration: TLSConfiguration, pairing: PairingWindow.Attempt? = nil) {
      self.configuration = configuration
      self.pairing = pairing
    }
  }

  /// All are called on the thread that brought the last bytes, and must not keep it.
  package struct Callbacks: Sendable {
    /// Asked for each connection, so that it can follow who is paired and whether pairing is open.
    package var terms: @Sendable (SocketAddress) -> Terms
    /// Takes a peer that has proved a pairing's secret. The connection goes when it is let go of.
    package var paired: @Sendable (SecureTransport, PairingWindow.Attempt, SocketAddress) -> Void
    /// A peer was sent away, or found something wrong, before it was known: what pairing's limits are counted by.
    package var failed: @Sendable (TLSError, PairingWindow.Attempt?, SocketAddress) -> Void

    package init(
      terms: @escaping @Sendable (SocketAddress) -> Terms,
      paired: @escaping @Sendable (SecureTransport, PairingWindow.Attempt, SocketAddress) -> Void,
      failed: @escaping @Sendable (TLSError, PairingWindow.Attempt?, SocketAddress) -> Void = { _, _, _ in }
    ) {
      self.terms = terms
      self.paired = paired
      self.failed = failed
    }
  }

  private let listener: GuardedListener
  private let streams: ResumableServer<TLSPeer>
  private let callbacks: Callbacks
  private let timekeeper: any Timekeeper
  /// Where the deadlines of handshakes are kept.
  private let lane: any Lane

  /// - Parameter streams: takes apps and companions.
  package init(
    _ listener: GuardedListener, streams: ResumableServer<TLSPeer>, timekeeper: any Timekeeper, callbacks: Callbacks
  ) {
    self.listener = listener
    self.streams = streams
    self.timekeeper = timekeeper
    self.callbacks = callbacks
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
    let address = guest.peer
    let terms = callbacks.terms(address)
    // Without memory for a handshake the guest is let go of, which closes it.
    guard let secure = try? SecureTransport(over: guest.transport, terms.configuration, timekeeper: timekeeper) else {
      return
    }
    // Until the peer is known or gone, the transport is held by what it is to call then.
    secure.begin(
      on: lane, established: { [weak self] peer in self?.admit(peer, secure, guest, terms.pairing) },
      closed: { [failed = callbacks.failed, weak secure] peer, _ in
        if peer == nil, let failure = secure?.failure { failed(failure, terms.pairing, address) }
      })
  }

  private func admit(
    _ peer: TLSPeer, _ secure: SecureTransport, _ guest: GuardedListener.Guest, _ attempt: PairingWindow.Attempt?
  ) {
    guard guest.authenticated() else { return secure.close() }
    switch peer {
    case .app, .companion: streams.accept(secure, from: peer)
    case .pairing:
      guard let attempt else { return secure.close() }
      callbacks.paired(secure, attempt, guest.peer)
    // Only a client meets glasses.
    case .agent: secure.close()
    }
  }
}
