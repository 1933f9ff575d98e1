import LinkProtocol
import LinkTransport
import Synchronization
import Trust
import Units

/// Glasses on a network: an agent, the door to it, and whom they trust.
package final class GlassesServer: Sendable {
  package enum Event: Sendable {
    case agent(AgentNews)
    case paired(host: String)
    /// Somebody knew the pairing's secret, which is used up, and has not paired; why, in words.
    case pairingFailed(String)
    case unpaired(host: String)
    /// Nobody has paired in time.
    case pairingExpired
    /// Somebody did not know the secret, or was nobody that is known here; in words.
    case turnedAway(SocketAddress, String)
    /// What was to be kept could not be written; in words.
    case storeFailed(String)
  }

  /// The way in, from `start` on.
  private struct Entrance {
    let door: SecureDoor
    let streams: ResumableServer<TLSPeer>
  }

  private struct State {
    var hosts: PairedHosts
    var window = PairingWindow()
    var expiry: LaneTimer?
    var observer: (@Sendable (Event) -> Void)?
  }

  /// How long a pairing code is good for.
  package static let pairingLength: Duration = .seconds(300)

  package let home: GlassesHome
  package let agent: GlassesAgent
  package let addresses: [SocketAddress]
  private let listener: GuardedListener
  private let entrance: Mutex<Entrance?>
  private let timekeeper: any Timekeeper
  private let lane: any Lane
  private let state: Mutex<State>
  /// Held while the list of hosts is changed on the disk and then here.
  private let writing = Mutex<Void>(())

  /// Binds; `start` lets peers in.
  package init(
    _ agent: GlassesAgent, _ home: GlassesHome, listen host: HostPort,
    timekeeper: any Timekeeper = SystemTimekeeper.shared
  ) throws(SocketFailure) {
    self.agent = agent
    self.home = home
    self.timekeeper = timekeeper
    listener = GuardedListener(try TCPListener(on: host))
    addresses = listener.addresses
    lane = timekeeper.makeLane("gw-serving")
    state = Mutex(State(hosts: home.hosts))
    entrance = Mutex(nil)
  }

  deinit { lane.end() }

  /// Lets peers in. Once.
  ///
  /// - Parameter observer: what may be told to people. Any thread.
  package func start(_ observer: @escaping @Sendable (Event) -> Void = { _ in }) throws(SocketFailure) {
    state.withLock { $0.observer = observer }
    agent.observeNews { [weak self] news in self?.heard(news) }
    let streams = ResumableServer<TLSPeer>(timekeeper: timekeeper) { [weak self] stream, peer in
      guard let self, let peer = LinkPeer(peer) else { return stream.close() }
      admit(stream, peer)
    }
    let door = SecureDoor(
      listener, streams: streams, timekeeper: timekeeper,
      callbacks: SecureDoor.Callbacks(
        terms: { [weak self, home] address in
          self?.terms(for: address)
            ?? SecureDoor.Terms(TLSConfiguration(.agent(home.identity, hosts: [], pairing: nil)))
        },
        paired: { [weak self] secure, attempt, _ in self?.pair(secure, attempt) },
        failed: { [weak self] error, attempt, address in self?.failed(error, attempt, address) }))
    entrance.withLock { $0 = Entrance(door: door, streams: streams) }
    try door.start()
  }

  /// Says goodbye to all, and lets nobody in any more. Returns when every link is gone.
  package func end() async {
    let entrance = self.entrance.withLock { $0.take() }
    entrance?.door.stop()
    home.control.stop()
    await agent.shutDown(.poweringOff)
    entrance?.streams.end()
  }

  // MARK: - Pairing

  package var hosts: PairedHosts { state.withLock { $0.hosts } }

  /// Begins to pair with a new secret; one that was shown before is dead.
  ///
  /// - Returns: what to show. It holds the secret.
  package func openPairing(for length: Duration = pairingLength) throws(PairingURIError) -> PairingURI {
    let secret = PairingSecret()
    let uri = try PairingURI(
      addresses: shownAddresses, port: addresses.first?.port ?? 0, device: home.me.identifier,
      name: agent.identity.name,
      pin: home.key.pin, secret: secret)
    let now = timekeeper.now
    let old = state.withLock { state in
      state.window.open(uri.offer, for: length, at: now)
      defer { state.expiry = lane.run(at: now + length) { [weak self] in self?.expire() } }
      return state.expiry
    }
    old?.cancel()
    return uri
  }

  /// Nobody can pair any more.
  package func closePairing() {
    let timer = state.withLock { state in
      state.window.close()
      return state.expiry.take()
    }
    timer?.cancel()
  }

  package var isPairing: Bool {
    let now = timekeeper.now
    return state.withLock { $0.window.isOpen(at: now) }
  }

  /// Forgets a host, and says goodbye to all that came by it. False when it is not known.
  package func unpair(_ host: KeyPin) throws(StoreError) -> Bool {
    let known = try writing.withLock { _ throws(StoreError) -> PairedHosts.Host? in
      var hosts = self.hosts
      guard let known = hosts.hosts.first(where: { $0.key.pin == host }), hosts.remove(host) else { return nil }
      try home.save(hosts)
      state.withLock { $0.hosts = hosts }
      return known
    }
    guard let known else { return false }
    agent.part(from: host)
    tell(.unpaired(host: known.name))
    return true
  }

  private var shownAddresses: [HostAddress] {
    let wildcards = ["0.0.0.0", "::"]
    let bound = addresses.map(\.hostText)
    let all = bound.contains(where: wildcards.contains) ? LocalAddresses.reachable() : bound
    return all.compactMap { HostAddress($0) }.filter { $0.zone == nil }.prefix(PairingURI.mostAddresses).map { $0 }
  }

  private func expire() {
    let now = timekeeper.now
    let hasExpired = state.withLock { state in
      guard let deadline = state.window.deadline, deadline <= now else { return false }
      state.window.close()
      state.expiry = nil
      return true
    }
    if hasExpired { tell(.pairingExpired) }
  }

  // MARK: - The door, on any thread

  private func terms(for address: SocketAddress) -> SecureDoor.Terms {
    let now = timekeeper.now
    let (hosts, attempt) = state.withLock { state in
      (state.hosts.keys, try? state.window.attempt(from: address.hostText, at: now))
    }
    return SecureDoor.Terms(
      TLSConfiguration(.agent(home.identity, hosts: hosts, pairing: attempt?.offer)), pairing: attempt)
  }

  /// Serves a peer that was trusted when its handshake began.
  private func admit(_ stream: ResumableTransport, _ peer: LinkPeer) {
    guard isTrusted(peer.host) else { return stream.close() }
    agent.accept(stream, from: peer)
    // Unpaired between the two: then this link may have begun after those that were ended by it. Later than here it can't
    // have.
    if !isTrusted(peer.host) { agent.part(from: peer.host) }
  }

  private func isTrusted(_ host: KeyPin) -> Bool {
    state.withLock { $0.hosts.hosts.contains { $0.key.pin == host } }
  }

  private func failed(_ error: TLSError, _ attempt: PairingWindow.Attempt?, _ address: SocketAddress) {
    let now = timekeeper.now
    switch error.cause {
    case .secretWrong, .pairingUnknown:
      if let attempt { state.withLock { $0.window.failed(attempt, at: now) } }
    case _: break
    }
    tell(.turnedAway(address, "\(error)"))
  }

  private func pair(_ secure: SecureTransport, _ attempt: PairingWindow.Attempt) {
    let now = timekeeper.now
    let (isFirst, timer) = state.withLock { state in
      guard state.window.succeeded(attempt, at: now) else { return (false, LaneTimer?.none) }
      return (true, state.expiry.take())
    }
    timer?.cancel()
    guard isFirst else { return secure.close() }
    let hello = Hello(
      role: .glasses, purpose: .pairing, capabilities: [], identifier: agent.identity.identifier,
      name: agent.identity.name, model: agent.identity.model, softwareVersion: agent.identity.softwareVersion,
      nonce: Nonce())
    PairingConversation.begin(
      on: secure, home, hello: hello, timekeeper: timekeeper,
      keep: { [weak self] host in
        guard let self else { return "the glasses have ended" }
        return keep(host)
      },
      failed: { [weak self] words in self?.tell(.pairingFailed(words)) })
  }

  /// On the conversation's lane.
  private func keep(_ host: PairedHosts.Host) -> String? {
    do throws(StoreError) {
      let hasRoom = try writing.withLock { _ throws(StoreError) -> Bool in
        var hosts = self.hosts
        guard hosts.add(host) else { return false }
        try home.save(hosts)
        state.withLock { $0.hosts = hosts }
        return true
      }
      guard hasRoom else {
        return
          "these glasses are paired with \(PairedHosts.most) hosts, and no more; unpair one by glasswing glasses-ctl"
      }
    } catch {
      tell(.storeFailed("\(error)"))
      return "the glasses can't write down the host"
    }
    tell(.paired(host: host.name))
    return nil
  }

  // MARK: - News

  private func heard(_ news: AgentNews) {
    if case .unpaired(let host) = news {
      // Off the agent's lane, since it writes.
      lane.run { [weak self] in
        do throws(StoreError) {
          _ = try self?.unpair(host)
        } catch {
          self?.tell(.storeFailed("\(error)"))
        }
      }
      return
    }
    tell(.agent(news))
  }

  private func tell(_ event: Event) { state.withLock { $0.observer }?(event) }
}
