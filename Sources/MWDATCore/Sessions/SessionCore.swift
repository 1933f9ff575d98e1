import LinkProtocol
import LinkTransport
import Synchronization
import Units

/// What carries a session: the machine, the link, the capabilities and the listeners. Apart from `DeviceSession`, so
/// that a session the app lets go of is released, and still ends in order.
///
/// Every effect is queued, on the control lane or the link's, under the lock that guards the machine; so effects keep
/// the order of the machine's decisions, and no code of the app's runs under it.
final class SessionCore: Sendable {
  /// From `start()` to the glasses' answer.
  static let startDeadline: Duration = .seconds(10)
  /// From `stop()` to `.stopped`, whatever the glasses do.
  static let closeDeadline: Duration = .seconds(1)
  /// Sessions are numbered within their link, and each has a link of its own.
  static let sessionID = SessionID(1)

  private enum CapabilityNews {
    case paused([any SessionCapability], SessionPaused.Reason)
    case resumed([any SessionCapability])
    case ending
  }

  private struct State {
    var machine = SessionMachine()
    var connection: LinkConnection?
    var peer: Hello?
    var capabilities: [any SessionCapability] = []
    /// What capabilities are still to be told of, oldest first.
    var news: [CapabilityNews] = []
    var failure: SessionFailure?
  }

  let deviceId: DeviceIdentifier
  let environment: any WearablesEnvironment
  let controlLane: any Lane
  let states: Broadcaster<DeviceSessionState>
  let errors: Broadcaster<DeviceSessionError>
  private let state = Mutex(State())

  init(deviceId: DeviceIdentifier, environment: any WearablesEnvironment) {
    self.deviceId = deviceId
    self.environment = environment
    controlLane = environment.timekeeper.makeLane("session")
    states = Broadcaster(lane: controlLane)
    errors = Broadcaster(lane: controlLane)
  }

  var current: DeviceSessionState { state.withLock { $0.machine.state } }
  var pauseReason: SessionPaused.Reason? { state.withLock { $0.machine.pauseReason } }
  var connection: LinkConnection? { state.withLock { $0.connection } }
  var peer: Hello? { state.withLock { $0.peer } }
  var failure: SessionFailure? { state.withLock { $0.failure } }

  func stateStream() -> AsyncStream<DeviceSessionState> {
    state.withLock { state in
      states.stream(replaying: state.machine.state == .stopped ? nil : state.machine.state)
    }
  }

  func start() throws(DeviceSessionError) {
    switch state.withLock({ $0.machine.start() }) {
    case .underway: return
    case .refused: throw .sessionAlreadyStopped
    case .prepare: break
    }
    let connection: LinkConnection
    do throws(DeviceSessionError) {
      guard environment.devices.contains(where: { $0.identifier == deviceId && $0.isEligible }) else {
        throw .noEligibleDevice
      }
      connection = try environment.openLink(to: deviceId)
    } catch {
      handle(.linkRefused)
      throw error
    }
    let isWanted = state.withLock { state in
      state.connection = connection
      carryOut(state.machine.handle(.linkMade), &state)
      return state.connection != nil && state.machine.state == .starting
    }
    guard isWanted else {
      drop(connection)
      tellCapabilities()
      throw .sessionAlreadyStopped
    }
    // The handler keeps this object until the link has closed, which every way out of the machine brings about.
    connection.start { self.receive($0) }
  }

  func stop() { handle(.stopRequested) }

  // MARK: Capabilities

  func attach(_ capability: any SessionCapability) throws(DeviceSessionError) {
    let refusal: DeviceSessionError? = state.withLock { state in
      switch state.machine.state {
      case .started: break
      case .idle, .starting, .paused: return .sessionIdle
      case .stopping, .stopped: return .sessionAlreadyStopped
      }
      guard !state.capabilities.contains(where: { type(of: $0) == type(of: capability) }) else {
        return .capabilityAlreadyActive
      }
      state.capabilities.append(capability)
      return nil
    }
    if let refusal { throw refusal }
  }

  func detach(_ capability: any SessionCapability) {
    let removed = state.withLock { state in
      state.capabilities.firstIndex { $0 === capability }.map { state.capabilities.remove(at: $0) }
    }
    withExtendedLifetime(removed) {}
  }

  /// On the link lane, and not on that of the listeners, of which one may block: in order with the media, and with no lock
  /// held.
  private func tellCapabilities() {
    while let news = state.withLock({ $0.news.isEmpty ? nil : $0.news.removeFirst() }) {
      switch news {
      case .paused(let capabilities, let reason):
        for capability in capabilities { capability.sessionPaused(reason) }
      case .resumed(let capabilities):
        for capability in capabilities { capability.sessionResumed() }
      case .ending: endCapabilities()
      }
    }
  }

  private func endCapabilities() {
    let ending = state.withLock { state in
      defer { state.capabilities = [] }
      return state.capabilities
    }
    for capability in ending { capability.sessionEnding() }
    handle(.capabilitiesEnded)
  }

  // MARK: The link

  /// On the link lane.
  private func receive(_ event: LinkEvent) {
    switch event {
    case .opened(let hello):
      state.withLock { $0.peer = hello }
      handle(.linkOpened)
    case .message(let message):
      switch Self.meaning(of: message) {
      case .session(let event):
        handle(event)
        tellCapabilities()
      case .nothing: break
      case .capabilities: forward(event)
      }
    case .accessUnit, .audio, .photoProgress, .photo, .videoDropped, .audioDropped, .clockRealigned, .silent,
      .heardAgain:
      forward(event)
    case .closed(let close):
      forward(event)
      handle(.linkClosed(close))
      // The lane ends with the link, so what was left for it happens now.
      tellCapabilities()
      drop(nil)
    }
  }

  private func forward(_ event: LinkEvent) {
    for capability in state.withLock({ $0.capabilities }) { capability.sessionLinkEvent(event) }
  }

  private enum Meaning {
    case session(SessionMachine.Event)
    case capabilities
    case nothing
  }

  private static func meaning(of message: Message) -> Meaning {
    switch message {
    case .sessionOpened(let it): it.session == sessionID ? .session(.opened) : .nothing
    case .sessionPaused(let it): it.session == sessionID ? .session(.paused(it.reason)) : .nothing
    case .sessionResumed(let it): it.session == sessionID ? .session(.resumed) : .nothing
    case .sessionClosed(let it):
      it.session == sessionID ? .session(.closed(it.reason, retryAfter: it.retryAfter, text: it.text)) : .nothing
    case .failure(let it):
      switch it.scope {
      case .session(sessionID): .session(.failed(it.code, text: it.text))
      case .session: .nothing
      // Of the link itself: if it can't go on it closes, and that is what ends the session.
      case .link, .stream: .capabilities
      }
    case .deviceState, .streamStarted, .streamChanged, .streamStopped, .audioChanged, .photoResult, .feedback:
      .capabilities
    // The endpoint's own, or what only an app sends.
    case .hello, .goodbye, .ping, .pong, .clockRequest, .clockReply, .sessionOpen, .sessionClose, .streamStart,
      .streamStop, .keyframeRequest, .photoRequest, .pairingRequest, .unpair,
      // What only a companion sends or hears.
      .pairingAccepted, .glassesListing, .glassesRemoved, .glassesListed, .certificateRequest, .certificateIssued,
      .pairGlasses, .unpairGlasses, .companionAnswer:
      .nothing
    }
  }

  /// Lets go of the link; `unused` is one that was made and never started.
  private func drop(_ unused: LinkConnection?) {
    unused?.close(Goodbye(reason: .finished))
    let old = state.withLock { state in
      defer { state.connection = nil }
      return state.connection
    }
    withExtendedLifetime(old) {}
  }

  // MARK: The machine

  private func handle(_ event: SessionMachine.Event) {
    state.withLock { state in carryOut(state.machine.handle(event), &state) }
  }

  /// With the lock held: everything here is queued.
  private func carryOut(_ actions: [SessionMachine.Action], _ state: inout State) {
    for action in actions {
      switch action {
      case .announce(let new): states.send(new)
      case .announceFailure(let failure):
        state.failure = failure
        errors.send(failure.error)
      case .awaitStart: arm(Self.startDeadline, .startDeadline, on: state.connection)
      case .awaitClose: arm(Self.closeDeadline, .closeDeadline, on: state.connection)
      case .sendOpen: state.connection?.send(.sessionOpen(SessionOpen(session: Self.sessionID)))
      case .sendClose: state.connection?.send(.sessionClose(SessionClose(session: Self.sessionID)))
      case .pauseCapabilities(let reason): queue(.paused(state.capabilities, reason), &state)
      case .resumeCapabilities: queue(.resumed(state.capabilities), &state)
      case .endCapabilities: queue(.ending, &state)
      case .leaveLink: state.connection?.close(Goodbye(reason: .finished))
      case .finish:
        states.finish()
        errors.finish()
        let lane = controlLane
        lane.run { lane.end() }
      }
    }
  }

  private func queue(_ news: CapabilityNews, _ state: inout State) {
    state.news.append(news)
    (state.connection?.lane ?? controlLane).run { self.tellCapabilities() }
  }

  /// On the link's lane, since a listener that blocks the control lane must not keep the link open; that lane ends
  /// with the link, and the deadlines with it.
  private func arm(_ length: Duration, _ event: SessionMachine.Event, on connection: LinkConnection?) {
    connection?.lane.run(at: environment.timekeeper.now + length) { [weak self] in self?.handle(event) }
  }
}
