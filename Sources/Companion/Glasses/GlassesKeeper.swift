import LinkProtocol
import LinkTransport
import Synchronization
import Trust
import Units

/// Keeps the companion's standing link to one pair of glasses, and knows from it how they are.
///
/// All of it happens on the companion's lane. Released, it lets go of the link without a word; `end` says goodbye.
final class GlassesKeeper: Sendable {
  private struct State {
    var glasses: PairedGlasses.Glasses
    var machine = PresenceMachine()
    var report = DeviceStateReport()
    var link: LinkConnection?
    /// Which link; news of an earlier one count no more.
    var number: UInt64 = 0
    var timer: LaneTimer?
    var isOver = false
  }

  private let host: HostIdentity
  private let timekeeper: any Timekeeper
  private let lane: any Lane
  private let changed: @Sendable (PairedGlasses.Glasses) -> Void
  private let state: Mutex<State>

  /// - Parameter changed: what is known of the glasses is other than before. On the lane.
  init(
    _ glasses: PairedGlasses.Glasses, host: HostIdentity, timekeeper: any Timekeeper, lane: any Lane,
    changed: @escaping @Sendable (PairedGlasses.Glasses) -> Void
  ) {
    self.host = host
    self.timekeeper = timekeeper
    self.lane = lane
    self.changed = changed
    state = Mutex(State(glasses: glasses))
  }

  deinit { state.withLock { $0.timer }?.cancel() }

  func start() { lane.run { [weak self] in self?.connect() } }

  var listing: GlassesListing {
    state.withLock { state in
      let glasses = state.glasses
      return GlassesListing(
        identifier: glasses.device.text, uuid: glasses.uuidBytes, name: glasses.name, model: glasses.model,
        pin: glasses.pin.bytes, presence: state.machine.presence, addresses: glasses.addresses.map(\.text),
        port: glasses.port, state: state.machine.presence == .connected ? state.report : DeviceStateReport())
    }
  }

  /// They were found on the network: the likeliest place from now on. Any thread.
  func found(at addresses: [HostAddress], port: UInt16) {
    lane.run { [weak self] in self?.take(addresses, port) }
  }

  /// Parts from the glasses: they are told, if there is a link. True if so. On the lane.
  func unpair() -> Bool {
    let isConnected = state.withLock { $0.machine.presence == .connected }
    if isConnected { state.withLock { $0.link }?.send(.unpair(Unpair())) }
    end()
    return isConnected
  }

  func end() {
    let (link, timer) = state.withLock { state in
      state.isOver = true
      defer {
        state.link = nil
        state.timer = nil
      }
      return (state.link, state.timer)
    }
    timer?.cancel()
    // Lives until its goodbye has left: its own handler holds it.
    link?.close(Goodbye(reason: .finished))
  }

  // MARK: - On the lane

  private func connect() {
    let last = Box<SecureTransport?>(nil)
    let transport = ResumableDialer.stream(timekeeper: timekeeper) { [weak self, timekeeper] in
      guard let self else { return FailedTransport("the companion has ended") }
      let glasses = state.withLock { $0.glasses }
      let tcp = TCPTransport(places: glasses.addresses.map(\.text), port: glasses.port)
      do throws(TLSError) {
        let secure = try SecureTransport(
          over: tcp, TLSConfiguration(.client(host.identity, agent: glasses.pin)), timekeeper: timekeeper)
        last.value = secure
        return secure
      } catch {
        return FailedTransport("\(error)")
      }
    }
    let link = LinkConnection(
      endpoint: LinkEndpoint(hello: .companion(host, .control)), transport: transport, timekeeper: timekeeper,
      name: "gw-control")
    let number: UInt64? = state.withLock { state in
      guard !state.isOver else { return nil }
      state.number += 1
      state.link = link
      return state.number
    }
    guard let number else { return }
    link.start { [weak self, lane, link] event in
      withExtendedLifetime(link) {}
      lane.run { [weak self] in self?.handle(event, of: number, last) }
    }
  }

  private func handle(_ event: LinkEvent, of number: UInt64, _ last: Box<SecureTransport?>) {
    let now = timekeeper.now
    let before = listing
    let isOurs = state.withLock { state in
      guard state.number == number, !state.isOver else { return false }
      switch event {
      case .opened(let hello):
        if let called = state.glasses.called(hello.name, model: hello.model) { state.glasses = called }
      case .message(.deviceState(let report)):
        // The first one follows the hello at once: apps see glasses as connected with all that is known of them.
        state.report = report
        state.machine.reported()
      case .silent: state.machine.silent()
      case .heardAgain: state.machine.heardAgain()
      case .closed(let close):
        state.machine.closed(PresenceMachine.End(close, failure: last.value?.failure), at: now)
        state.link = nil
      case .message, .accessUnit, .audio, .photoProgress, .photo, .videoDropped, .audioDropped, .clockRealigned: break
      }
      return true
    }
    guard isOurs else { return }
    keepTime()
    tell(ifOtherThan: before)
  }

  private func take(_ addresses: [HostAddress], _ port: UInt16) {
    let now = timekeeper.now
    let before = listing
    state.withLock { state in
      let others = state.glasses.addresses.filter { !addresses.contains($0) }
      if let moved = state.glasses.at(addresses + others, port: port) { state.glasses = moved }
      state.machine.found(at: now)
    }
    keepTime()
    tell(ifOtherThan: before)
  }

  private func tell(ifOtherThan before: GlassesListing) {
    if listing != before { changed(state.withLock { $0.glasses }) }
  }

  private func keepTime() {
    let old: LaneTimer? = state.withLock { state in
      guard let next = state.machine.nextTry, !state.isOver else { return nil }
      defer { state.timer = lane.run(at: next) { [weak self] in self?.timerFired() } }
      return state.timer
    }
    old?.cancel()
  }

  private func timerFired() {
    let now = timekeeper.now
    if state.withLock({ $0.machine.timeout(at: now) }) { connect() }
  }
}

extension PairedGlasses.Glasses {
  var uuidBytes: [UInt8] { withUnsafeBytes(of: uuid.uuid) { Array($0) } }
}
