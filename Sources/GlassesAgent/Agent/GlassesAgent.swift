import LinkProtocol
import LinkTransport
import Synchronization
import Trust
import Units

/// A pair of glasses as apps see it: serves links, runs sessions, films and takes photos.
///
/// The same agent runs on a board and, simulated, inside a test. Everything that decides (`HardwareMachine`,
/// `AgentSessionMachine`) is a pure state machine; this object feeds them on one lane and carries their actions out.
/// Video never crosses that lane: a pipeline hands its units to the connection itself.
package final class GlassesAgent: Sendable {
  package struct Configuration: Sendable {
    package var foldEffect: HardwareMachine.FoldEffect
    /// The glasses' own clock.
    package var deviceClock: DeviceClock
    package var nonces: NonceSource
    /// As in `VideoPipeline.Configuration`.
    package var replaysCachedUnits: Bool
    /// As in `VideoPipeline.Configuration`.
    package var writesPictureHashes: Bool
    /// Of every link that is served.
    package var limits: LinkLimits

    package init(
      foldEffect: HardwareMachine.FoldEffect = .dropsLinks, deviceClock: DeviceClock = .identity,
      nonces: NonceSource = .system, replaysCachedUnits: Bool = false, writesPictureHashes: Bool = false,
      limits: LinkLimits = LinkLimits()
    ) {
      self.foldEffect = foldEffect
      self.deviceClock = deviceClock
      self.nonces = nonces
      self.replaysCachedUnits = replaysCachedUnits
      self.writesPictureHashes = writesPictureHashes
      self.limits = limits
    }
  }

  fileprivate enum Phase {
    case serving
    /// Every link was told goodbye; the callers wait until the last one is gone. The agent holds itself that long: its
    /// owner may have let go of it, and links hold it weakly.
    case ending(GlassesAgent, [@Sendable () -> Void])
    case ended
  }

  struct State {
    fileprivate var phase = Phase.serving
    var sessions = AgentSessionMachine()
    var nonces: NonceSource
    var nextLink: UInt64 = 1
    var links: [LinkKey: LinkConnection] = [:]
    /// Of links whose peers had to prove who they are.
    var peers: [LinkKey: LinkPeer] = [:]
    /// What the peers of open links say of themselves.
    var hellos: [LinkKey: Hello] = [:]
    var videos: [StreamKey: VideoOutlet] = [:]
    var audios: [StreamKey: AudioSender] = [:]
    /// Links whose apps decode Opus.
    var opusLinks: Set<LinkKey> = []
    /// What streams are sent as; outlives a pause.
    var rates: [StreamKey: VideoRate] = [:]
    /// What apps were told last.
    var report: DeviceStateReport
    var faults = AgentFaults()
    var unitObserver: (@Sendable (AccessUnit) -> Void)?
    var audioObserver: (@Sendable (AudioUnit) -> Void)?
    var newsObserver: (@Sendable (AgentNews) -> Void)?
  }

  package let identity: GlassesIdentity
  package let hardware: GlassesHardware
  package let camera: GlassesCamera
  package let microphone: GlassesMicrophone

  let timekeeper: any Timekeeper
  private let permissions: any AgentPermissions
  let configuration: Configuration
  /// Decisions are taken here, one after the other.
  let lane: any Lane
  /// Where a feed is opened for streams that rest.
  private let feedLane: any Lane
  let photographer: Photographer
  let state: Mutex<State>

  package init(
    identity: GlassesIdentity, timekeeper: any Timekeeper, permissions: any AgentPermissions,
    configuration: Configuration = Configuration()
  ) {
    self.identity = identity
    self.timekeeper = timekeeper
    self.permissions = permissions
    self.configuration = configuration
    lane = timekeeper.makeLane("gw-agent")
    feedLane = timekeeper.makeLane("gw-feed")
    hardware = GlassesHardware(machine: HardwareMachine(foldEffect: configuration.foldEffect), lane: lane)
    camera = GlassesCamera(lane: lane)
    microphone = GlassesMicrophone(timekeeper: timekeeper, lane: lane)
    photographer = Photographer(timekeeper: timekeeper, deviceClock: configuration.deviceClock)
    state = Mutex(State(nonces: configuration.nonces, report: hardware.current.report))
    hardware.observe { [weak self] in self?.handle($0) }
    camera.observeFeed { [weak self] in self?.act { $0.feedChanged() } }
    microphone.observeFailure { [weak self] text in self?.act { $0.microphoneFailed(text: text) } }
  }

  /// What the glasses do wrong, for tests. Any thread; a change applies from the next event on.
  package var faults: AgentFaults {
    get { state.withLock { $0.faults } }
    set { state.withLock { $0.faults = newValue } }
  }

  /// Sees each access unit of streams that begin from now on, as it leaves for the link: what a test compares with what
  /// arrived. On a lane of the stream's pipeline.
  package func observeUnits(_ observer: (@Sendable (AccessUnit) -> Void)?) {
    state.withLock { $0.unitObserver = observer }
  }

  // MARK: - Links

  /// Serves a peer. Any thread. Glasses that are off, folded or shut down say goodbye at once.
  ///
  /// - Parameter peer: who it has proved to be; nil where nobody else can reach the agent, as in one process.
  package func accept(_ transport: any ByteTransport, from peer: LinkPeer? = nil) {
    let isServing = state.withLock { state in
      guard case .serving = state.phase else { return false }
      // With the lock held, so that a shutdown finds the link begun. And on the lane, so that what ends all links ends
      // those that came before it and no later one.
      lane.run { [self] in begin(transport, peer) }
      return true
    }
    if !isServing { transport.close() }
  }

  private func begin(_ transport: any ByteTransport, _ peer: LinkPeer?) {
    let (key, connection) = state.withLock { state in
      let key = LinkKey(state.nextLink)
      state.nextLink &+= 1
      let endpoint = LinkEndpoint(
        hello: hello(nonce: state.nonces.next()), deviceClock: configuration.deviceClock, limits: configuration.limits)
      let connection = LinkConnection(
        endpoint: endpoint, transport: transport, timekeeper: timekeeper, name: "gw-link-glasses")
      state.links[key] = connection
      state.peers[key] = peer
      return (key, connection)
    }
    connection.start { [weak self] event in
      self?.enqueue { $0.handle(event, of: key) }
    }
    let body = hardware.current
    if !body.isReachable { connection.close(Goodbye(reason: body.isPoweredOn ? .hingeClosed : .poweringOff)) }
  }

  /// Ends every link for a reason, and with the last one every lane. Any thread; idempotent.
  ///
  /// - Parameter completion: called on the agent's lane when nothing is left, within the links' farewell deadline.
  package func shutDown(_ reason: Goodbye.Reason, completion: @escaping @Sendable () -> Void = {}) {
    let isOver = state.withLock { state in
      switch state.phase {
      case .serving: state.phase = .ending(self, [completion])
      case .ending(_, let others): state.phase = .ending(self, others + [completion])
      case .ended: return true
      }
      return false
    }
    guard !isOver else { return completion() }
    lane.run { [self] in
      leave(reason)
      endIfDone()
    }
  }

  /// As `shutDown(_:completion:)`; returns when nothing is left.
  package func shutDown(_ reason: Goodbye.Reason) async {
    let gate = ResumeOnce<Void>()
    await withCheckedContinuation { continuation in
      gate.store(continuation)
      shutDown(reason) { gate.resume(with: ()) }
    }
  }

  /// Links that are up or coming up.
  package var linkCount: Int { state.withLock { $0.links.count } }

  /// Sessions that are open, running or paused.
  package var sessionCount: Int { state.withLock { $0.sessions.sessionCount } }

  /// Streams whose pictures are being taken now.
  package var runningVideoCount: Int { state.withLock { $0.videos.count } }

  /// Of each link, in the order in which they came. For tests and figures.
  package var linkStatistics: [LinkStatistics] {
    state.withLock { $0.links }.sorted { $0.key.value < $1.key.value }.map(\.value.statistics)
  }

  /// What running and paused streams are sent as. For tests and figures.
  package var sendingRates: [StreamKey: SendingRate] {
    state.withLock { state in state.rates.mapValues(\.current) }
  }

  private func hello(nonce: Nonce) -> Hello {
    Hello(
      role: .glasses, capabilities: [.videoHEVC, .photoJPEG, .photoHEIC, .audioPCM, .audioOpus],
      identifier: identity.identifier,
      name: identity.name, model: identity.model, softwareVersion: identity.softwareVersion, nonce: nonce)
  }

  // MARK: - Inputs, on the lane

  func enqueue(_ work: @escaping @Sendable (GlassesAgent) -> Void) { lane.run { [self] in work(self) } }

  private func handle(_ event: LinkEvent, of key: LinkKey) {
    switch event {
    case .opened(let hello):
      if let objection = state.withLock({ $0.peers[key] })?.objection(to: hello) {
        link(key)?.close(Goodbye(reason: .refused, text: objection))
        return
      }
      let report = state.withLock { state in
        state.hellos[key] = hello
        if hello.capabilities.contains(.audioOpus) { state.opusLinks.insert(key) }
        return state.report
      }
      act { $0.linkOpened(key, hello: hello, report: report) }
      tell(.linkOpened(hello))
    case .message(let message):
      if case .companion(let host) = state.withLock({ $0.peers[key] }) { return received(message, from: host, key) }
      let conditions = conditions
      act { $0.received(message, from: key, conditions: conditions) }
    case .silent:
      act { $0.linkSilent(key) }
    case .heardAgain:
      let conditions = conditions
      act { $0.linkHeardAgain(key, conditions: conditions) }
    case .videoDropped(let stream, _, let needsSync):
      guard needsSync else { return }
      state.withLock { $0.videos[StreamKey(link: key, stream: stream)] }?
        .overflowed(asksForKeyframe: !faults.ignoresKeyframeRequests)
    case .clockRealigned:
      // Apps align their clock to the glasses'.
      break
    case .audioDropped:
      // The queue has marked what follows.
      break
    case .accessUnit, .audio, .photoProgress, .photo:
      act { $0.receivedMedia(from: key) }
    case .closed(let close):
      act { $0.linkClosed(key) }
      let hello = state.withLock { state in
        state.links[key] = nil
        state.peers[key] = nil
        state.opusLinks.remove(key)
        state.rates = state.rates.filter { $0.key.link != key }
        return state.hellos.removeValue(forKey: key)
      }
      if let hello { tell(.linkClosed(hello, close)) }
      endIfDone()
    }
  }

  private var conditions: SessionConditions {
    let links = state.withLock { $0.links }
    let now = timekeeper.now
    return SessionConditions(
      health: hardware.current.health, faults: faults,
      allowsCamera: { [permissions] in permissions.allowsCamera(app: $0) },
      allowsMicrophone: { [permissions] in permissions.allowsMicrophone(app: $0) },
      leaseLeft: { key in
        links[key]?.lastHeard.map { heard in max(.zero, LinkLimits().lease - (now - heard)) }
      })
  }

  private func handle(_ event: HardwareMachine.Event) {
    switch event {
    case .changed(let hardware):
      let report = hardware.report
      let isNew = state.withLock { state in
        defer { state.report = report }
        return state.report != report
      }
      if isNew { act { $0.reportChanged(report) } }
    case .folded: act { $0.folded() }
    case .left(let reason): leave(reason)
    case .forbidden(let verdict): act { $0.forbidden(verdict) }
    case .tapped: act { $0.tapped() }
    case .held: act { $0.held() }
    case .needsRest(let reason): act { $0.rest(reason) }
    case .restEnded(let reason): act { $0.endRest(reason) }
    }
  }

  private func leave(_ reason: Goodbye.Reason) {
    act { $0.leave(reason) }
    // Also those whose hello has not come yet, which the sessions don't know.
    let links = state.withLock { $0.links }
    for (_, connection) in links.sorted(by: { $0.key.value < $1.key.value }) {
      connection.close(Goodbye(reason: reason))
    }
  }

  private func endIfDone() {
    let completions: [@Sendable () -> Void] = state.withLock { state in
      guard case .ending(_, let completions) = state.phase, state.links.isEmpty else { return [] }
      state.phase = .ended
      return completions
    }
    guard !completions.isEmpty else { return }
    photographer.end()
    feedLane.end()
    for completion in completions { completion() }
    lane.end()
  }

  // MARK: - Actions, on the lane

  func act(_ input: (inout AgentSessionMachine) -> [SessionAction]) {
    let actions = state.withLock { input(&$0.sessions) }
    for action in actions { perform(action) }
  }

  private func perform(_ action: SessionAction) {
    switch action {
    case .send(let key, let message):
      link(key)?.send(message)
      tell(message, to: key)
      forgetRates(key, message)
    case .close(let key, let goodbye): link(key)?.close(goodbye)
    case .startVideo(let key, let video): startVideo(key, video, afterGap: false)
    case .continueVideo(let key, let video): startVideo(key, video, afterGap: true)
    case .stopVideo(let key):
      state.withLock { $0.videos.removeValue(forKey: key) }?.stop()
    case .startAudio(let key, let audio): startAudio(key, audio)
    case .stopAudio(let key): stopAudio(key)
    case .requestKeyframe(let key):
      state.withLock { $0.videos[key] }?.requestKeyframe()
    case .checkFeed(let key): checkFeed(for: key)
    case .takePhoto(let key, let request): takePhoto(key, request)
    case .dropPhoto(let key): photographer.drop(key)
    }
  }

  func link(_ key: LinkKey) -> LinkConnection? { state.withLock { $0.links[key] } }

  private func startVideo(_ key: StreamKey, _ video: VideoParameters, afterGap: Bool) {
    let faults = faults
    guard !faults.sendsNothing, let connection = link(key.link) else { return }
    var pipeline = VideoPipeline.Configuration(
      feed: camera.feed, video: video, bitrate: camera.bitrate, replaysCachedUnits: configuration.replaysCachedUnits)
    pipeline.keyframeInterval = faults.keyframeInterval
    pipeline.writesPictureHashes = configuration.writesPictureHashes
    let (rate, observer, feedClock) = state.withLock { state in
      let rate = state.rates[key] ?? VideoRate(asked: video, bitrate: camera.bitrate)
      state.rates[key] = rate
      return (rate, state.unitObserver, state.audios[key]?.feedClock)
    }
    let outlet = VideoOutlet(
      stream: key.stream, isAfterGap: afterGap, configuration: pipeline, rate: rate, timekeeper: timekeeper,
      feedClock: feedClock ?? FeedClock(), deviceClock: configuration.deviceClock, connection: connection,
      observer: observer,
      failed: { [weak self] outlet, failure in
        self?.enqueue { $0.videoFailed(key, outlet, failure) }
      })
    state.withLock { $0.videos[key] = outlet }
    outlet.start()
  }

  private func checkFeed(for key: StreamKey) {
    let feed = camera.feed
    feedLane.run { [weak self] in
      do throws(SourceError) {
        _ = try feed.makeSource()
      } catch {
        self?.enqueue { agent in
          // One that was replaced meanwhile has a look of its own.
          guard agent.camera.feed == feed else { return }
          let failure = PipelineFailure.source(error)
          agent.act { $0.feedRefused(key, code: failure.code, text: failure.text) }
        }
      }
    }
  }

  /// What is told of the end of a stream ends its rate.
  private func forgetRates(_ key: LinkKey, _ message: Message) {
    switch message {
    case .streamStopped(let stopped):
      state.withLock { $0.rates[StreamKey(link: key, stream: stopped.stream)] = nil }
    case .sessionClosed:
      state.withLock { state in state.rates = state.rates.filter { $0.key.link != key } }
    default: break
    }
  }

  private func videoFailed(_ key: StreamKey, _ outlet: VideoOutlet, _ failure: PipelineFailure) {
    // A stream that was begun anew since has another outlet under the same key.
    guard state.withLock({ $0.videos[key] === outlet }) else { return }
    act { $0.videoFailed(key, code: failure.code, text: failure.text) }
  }
}
