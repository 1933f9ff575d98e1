import Units

/// One side of a link as a value: bytes, messages and the time go in; events, bytes and the next deadline come out.
///
/// It reads no clock and does no input or output. The rule for its owner: one input, then drain `nextBytes` and
/// `nextEvent` until both give nothing, then look at `nextDeadline` and call `timeout(at:)` when it has come. Times
/// never step back.
package struct LinkEndpoint: Sendable {
  private enum State: Sendable {
    /// The transport is not up yet.
    case idle
    /// Our hello has left or waits; the peer's is due.
    case greeting(deadline: Instant)
    case open(peer: ProtocolVersion, role: LinkRole)
    /// A goodbye waits to leave; then the link closes for this cause.
    case leaving(LinkClose.Cause, deadline: Instant)
    case closed
  }

  let hello: Hello
  let deviceClock: DeviceClock
  let limits: LinkLimits
  private var state = State.idle
  private var events = FIFO<LinkEvent>()

  var deframer = Deframer()
  var reassemblers: [ChannelReassembler]
  var scheduler: SendScheduler
  var alignment = ClockAlignment()
  /// Of pictures and of sound; both by the one alignment.
  var stamps = StreamStamps()
  var audioStamps = StreamStamps()
  var feedback: FeedbackSchedule
  /// Bytes of photos under way that were told of.
  var photoReported: [PhotoID: Int] = [:]
  private var liveness: Liveness?
  private var clockExchange: ClockExchange?
  var counters = LinkStatistics()

  /// - Parameters:
  ///   - hello: what this side says first; its role decides who asks whom for the time.
  ///   - deviceClock: on glasses, the clock that their clock replies are read from.
  package init(hello: Hello, deviceClock: DeviceClock = .identity, limits: LinkLimits = LinkLimits()) {
    self.hello = hello
    self.deviceClock = deviceClock
    self.limits = limits
    reassemblers = Channel.allCases.map { ChannelReassembler(channel: $0, limits: limits) }
    scheduler = SendScheduler(limits: limits, deviceClock: deviceClock)
    feedback = FeedbackSchedule(interval: limits.feedbackInterval)
  }

  /// A time of the glasses on this side's clock, mapped as video stamps are: never after now.
  package mutating func hostTime(of time: DeviceTime, at now: Instant) -> Instant {
    StreamStamps.believable(alignment.hostTime(of: time, arrived: now), at: now)
  }

  // MARK: - Inputs

  /// The transport is up: the hello leaves, and the peer's is due by a deadline. Once.
  package mutating func opened(at now: Instant) {
    guard case .idle = state else { return }
    state = .greeting(deadline: now + limits.helloDeadline)
    scheduler.begin(with: hello)
  }

  /// Bytes of the peer, in any portions.
  package mutating func received(_ bytes: [UInt8], at now: Instant) {
    switch state {
    case .greeting, .open: break
    case .idle, .leaving, .closed: return
    }
    if let silence = liveness?.heard(at: now) { emit(.heardAgain(after: silence)) }
    do throws(LinkProtocolError) {
      try take(bytes, at: now)
    } catch {
      fail(error, at: now)
    }
  }

  /// The transport is over.
  package mutating func transportClosed(_ cause: TransportClose, at now: Instant) {
    switch state {
    case .idle, .greeting, .open: close(.transport(cause), at: now)
    case .leaving(let cause, _): close(cause, at: now)
    case .closed: break
    }
  }

  /// Queues a message. Before the link is open it waits until it is; after its end it is dropped.
  package mutating func send(_ message: Message, at now: Instant) {
    guard isListening else { return }
    sending(at: now) { scheduler throws(LinkProtocolError) in try scheduler.enqueue(message) }
  }

  /// Queues an access unit. A queue that has grown too old drops to the next sync unit (`videoDropped`).
  package mutating func send(_ unit: AccessUnit, at now: Instant) {
    guard isListening else { return }
    sending(at: now) { scheduler throws(LinkProtocolError) in try scheduler.enqueue(unit, at: now) }
    reportDrops()
  }

  /// Queues a unit of sound. From a queue that has grown too old the oldest go, and one that has nothing in it, or too
  /// much, is left out (`audioDropped`).
  package mutating func send(_ unit: AudioUnit, at now: Instant) {
    guard isListening else { return }
    scheduler.enqueue(unit, at: now)
    reportDrops()
  }

  /// Queues a photo's bytes.
  package mutating func send(photo: PhotoID, bytes: [UInt8], at now: Instant) {
    guard isListening else { return }
    sending(at: now) { scheduler throws(LinkProtocolError) in try scheduler.enqueue(photo, bytes: bytes) }
  }

  /// Leaves: what waits of messages and then the goodbye are sent, no media, then the link closes. The first call
  /// counts; nothing that arrives after it is told.
  package mutating func finish(_ goodbye: Goodbye, at now: Instant) {
    guard isListening else { return }
    leave(with: goodbye, for: .finished, at: now)
  }

  /// Call when `nextDeadline` has come; too early does nothing.
  package mutating func timeout(at now: Instant) {
    switch state {
    case .idle, .closed: break
    case .greeting(let deadline):
      if deadline <= now { close(.silent, at: now) }
    case .leaving(let cause, let deadline):
      if deadline <= now { close(cause, at: now) }
    case .open:
      timeoutOpen(at: now)
    }
  }

  // MARK: - Outputs

  package mutating func nextEvent() -> LinkEvent? { events.popFirst() }

  /// The most urgent chunks that fit, or nil when nothing waits or not even one chunk fits.
  package mutating func nextBytes(atMost limit: Int, at now: Instant) -> [UInt8]? {
    switch state {
    case .idle, .closed: return nil
    case .greeting, .open, .leaving: break
    }
    let bytes = scheduler.nextBytes(atMost: limit, at: now)
    reportDrops()
    counters.queuedVideoAge = scheduler.queuedVideoAge(at: now)
    if case .leaving(let cause, _) = state, scheduler.isEmpty { close(cause, at: now) }
    return bytes
  }

  /// When `timeout(at:)` is due; nil before the opening and after the end.
  package var nextDeadline: Instant? {
    switch state {
    case .idle, .closed: return nil
    case .greeting(let deadline), .leaving(_, let deadline): return deadline
    case .open:
      var earliest = liveness?.nextDeadline ?? .distantFuture
      if let next = clockExchange?.nextDeadline { earliest = min(earliest, next) }
      if let next = feedback.nextDeadline { earliest = min(earliest, next) }
      for reassembler in reassemblers {
        if let next = reassembler.nextDeadline { earliest = min(earliest, next) }
      }
      return earliest
    }
  }

  /// When bytes of the peer came last; nil while the link is not open.
  package var lastHeard: Instant? {
    if case .open = state { return liveness?.lastHeard }
    return nil
  }

  package var statistics: LinkStatistics {
    var snapshot = counters
    snapshot.sent = scheduler.sent
    snapshot.lost = reassemblers.map(\.lostUnits)
    snapshot.lost[Int(Channel.audio.rawValue)] &+= counters.unusableAudioUnits
    snapshot.repeatedBytes = reassemblers.reduce(0) { $0 + $1.repeatedBytes }
    (snapshot.queuedVideoUnits, snapshot.queuedVideoBytes) = scheduler.queuedVideo
    (snapshot.queuedAudioUnits, snapshot.queuedAudioBytes) = scheduler.queuedAudio
    snapshot.repairedStamps = stamps.repaired &+ audioStamps.repaired
    snapshot.roundTrip = alignment.lastRoundTrip
    snapshot.leastRoundTrip = alignment.leastRoundTrip
    snapshot.clockDrift = alignment.drift * -1e6
    snapshot.clockRealignments = alignment.realignments
    return snapshot
  }

  /// What is known of the video that this side sends, for its rate control. Costs no allocation.
  package func videoFlow(at now: Instant) -> VideoFlow {
    var flow = scheduler.videoFlow(at: now)
    flow.overflows = counters.videoOverflows
    return flow
  }

  // MARK: - State

  /// True until this side has begun to leave or the link has ended.
  var isListening: Bool {
    switch state {
    case .idle, .greeting, .open: true
    case .leaving, .closed: false
    }
  }

  /// The peer's version; nil before its hello.
  var peerVersion: ProtocolVersion? {
    if case .open(let version, _) = state { return version }
    return nil
  }

  /// The peer's role; nil before its hello.
  var peerRole: LinkRole? {
    if case .open(_, let role) = state { return role }
    return nil
  }

  mutating func emit(_ event: LinkEvent) { events.append(event) }

  mutating func open(_ peer: Hello, at now: Instant) {
    state = .open(peer: peer.version, role: peer.role)
    liveness = Liveness(limits: limits, at: now)
    if hello.role != .glasses, peer.role == .glasses { clockExchange = ClockExchange(limits: limits, at: now) }
    scheduler.holdsBack = false
    emit(.opened(peer))
    timeoutOpen(at: now)
  }

  mutating func close(_ cause: LinkClose.Cause, at now: Instant) {
    guard !isClosed else { return }
    state = .closed
    scheduler.dropAll()
    emit(.closed(LinkClose(cause, at: now)))
  }

  private var isClosed: Bool {
    if case .closed = state { return true }
    return false
  }

  /// The link can't go on: the peer is told why as far as it still listens.
  mutating func fail(_ error: LinkProtocolError, at now: Instant) {
    guard isListening else { return }
    let reason: Goodbye.Reason
    switch error.cause {
    case .versionMismatch: reason = .versionMismatch
    case .backlog: reason = .internalError
    default: reason = error.stage == .sending ? .internalError : .protocolViolation
    }
    leave(with: Goodbye(reason: reason, text: error.description), for: .protocolError(error), at: now)
  }

  private mutating func leave(with goodbye: Goodbye, for cause: LinkClose.Cause, at now: Instant) {
    switch state {
    case .idle:
      close(cause, at: now)
    case .greeting, .open:
      if peerVersion == nil { scheduler.keepHelloOnly(hello) } else { scheduler.dropMedia() }
      scheduler.enqueueLast(.goodbye(goodbye))
      state = .leaving(cause, deadline: now + limits.farewellDeadline)
    case .leaving, .closed:
      break
    }
  }

  // MARK: - Helpers

  private mutating func timeoutOpen(at now: Instant) {
    for action in liveness?.timeout(at: now) ?? [] {
      switch action {
      case .ping(let number): send(.ping(Ping(number: number)), at: now)
      case .silent(let since): emit(.silent(since: since))
      case .giveUp:
        close(.silent, at: now)
        return
      }
    }
    if let request = clockExchange?.timeout(at: now) { send(.clockRequest(request), at: now) }
    for report in feedback.timeout(at: now) { send(.feedback(report), at: now) }
    do throws(LinkProtocolError) {
      for channel in Channel.allCases {
        try reassemblers[Int(channel.rawValue)].timeout(at: now)
        try deliver(channel, at: now)
      }
    } catch {
      fail(error, at: now)
    }
  }

  mutating func accept(_ reply: ClockReply, at now: Instant) {
    guard clockExchange?.accepts(reply) == true else { return }
    let before = alignment.realignments
    alignment.add(
      originated: reply.originated, received: reply.received, transmitted: reply.transmitted, arrived: now)
    if alignment.realignments > before { emit(.clockRealigned(by: alignment.lastRealignment)) }
  }

  private mutating func sending(
    at now: Instant, _ enqueue: (inout SendScheduler) throws(LinkProtocolError) -> Void
  ) {
    do throws(LinkProtocolError) {
      try enqueue(&scheduler)
    } catch {
      fail(error, at: now)
    }
  }

  private mutating func reportDrops() {
    for drop in scheduler.takeDrops() {
      counters.droppedVideoUnits += UInt64(drop.units)
      if drop.begins { counters.videoOverflows += 1 }
      emit(.videoDropped(drop.stream, units: drop.units, needsSync: drop.needsSync))
    }
    for drop in scheduler.takeAudioDrops() {
      counters.droppedAudioUnits += UInt64(drop.units)
      emit(.audioDropped(drop.stream, units: drop.units))
    }
  }
}
