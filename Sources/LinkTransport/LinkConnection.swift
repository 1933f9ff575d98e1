import LinkProtocol
import Synchronization
import Units

/// Joins a `LinkEndpoint` to a `ByteTransport` on a lane of its own.
///
/// The endpoint stands under a lock, so that `send` queues at once, with the endpoint's own bounds and drop rules, from
/// any thread. Events are delivered and bytes written on the lane only, with no lock held. One that is released without
/// `close` ends the transport without a goodbye.
package final class LinkConnection: Sendable {
  fileprivate enum Phase {
    case created
    case running(@Sendable (LinkEvent) -> Void)
    /// `close` came before `start`.
    case abandoned
    case closed
  }

  fileprivate struct State {
    var endpoint: LinkEndpoint
    var phase = Phase.created
    /// A pump is queued on the lane and has not begun.
    var isPumpQueued = false
    var timer: LaneTimer?
    var timerDeadline = Instant.distantFuture
    /// Bytes that came and have not been given to the endpoint.
    var inbox: [[UInt8]] = []
    var transportClose: TransportClose?
  }

  /// Most that one write takes: little enough that something more urgent can still overtake the rest.
  private static let writeLimit = 65_536

  /// The link lane: events arrive on it, in order, one at a time. It ends after `closed`.
  package let lane: any Lane

  private let transport: any ByteTransport
  private let timekeeper: any Timekeeper
  private let state: Mutex<State>

  package init(endpoint: LinkEndpoint, transport: any ByteTransport, timekeeper: any Timekeeper, name: String) {
    self.transport = transport
    self.timekeeper = timekeeper
    lane = timekeeper.makeLane(name)
    state = Mutex(State(endpoint: endpoint))
  }

  deinit {
    transport.close()
    lane.end()
  }

  /// Opens the transport and the link. Once; a second call does nothing. The handler is called on the lane and is
  /// released after `closed`.
  package func start(_ handler: @escaping @Sendable (LinkEvent) -> Void) {
    let now = timekeeper.now
    let opens: Bool? = state.withLock { state in
      switch state.phase {
      case .created:
        state.phase = .running(handler)
        state.endpoint.opened(at: now)
        return true
      case .abandoned:
        state.phase = .running(handler)
        return false
      case .running, .closed:
        return nil
      }
    }
    guard let opens else { return }
    if opens {
      transport.open(
        TransportHandlers(
          received: { [weak self] bytes in self?.received(bytes) },
          writable: { [weak self] in self?.queuePump() },
          closed: { [weak self] cause in self?.transportClosed(cause) }))
    }
    queuePump()
  }

  /// Queues for sending. Any thread; the order of one thread's calls is kept. Dropped after the end.
  package func send(_ message: Message) {
    send { endpoint, now in endpoint.send(message, at: now) }
  }

  /// Queues an access unit; a queue that runs over answers with `videoDropped`.
  package func send(_ unit: AccessUnit) {
    send { endpoint, now in endpoint.send(unit, at: now) }
  }

  /// Queues a unit of sound; a queue that runs over answers with `audioDropped`.
  package func send(_ unit: AudioUnit) {
    send { endpoint, now in endpoint.send(unit, at: now) }
  }

  /// Queues a photo's bytes.
  package func send(photo: PhotoID, bytes: [UInt8]) {
    send { endpoint, now in endpoint.send(photo: photo, bytes: bytes, at: now) }
  }

  /// Leaves with a goodbye. Idempotent; `closed` follows within the farewell deadline, also when the link has not been
  /// started: then as soon as it is.
  package func close(_ goodbye: Goodbye) {
    let now = timekeeper.now
    let wasStarted = state.withLock { state in
      state.endpoint.finish(goodbye, at: now)
      guard case .created = state.phase else { return true }
      state.phase = .abandoned
      return false
    }
    if wasStarted { queuePump() } else { transport.close() }
  }

  /// When bytes of the peer came last; nil while the link is not open. Any thread.
  package var lastHeard: Instant? { state.withLock { $0.endpoint.lastHeard } }

  /// A time of the glasses on this host's clock, as far as the two are known to each other by now. Any thread.
  package func hostTime(of time: DeviceTime) -> Instant {
    let now = timekeeper.now
    return state.withLock { $0.endpoint.hostTime(of: time, at: now) }
  }

  /// A snapshot. Any thread.
  package var statistics: LinkStatistics { state.withLock { $0.endpoint.statistics } }

  /// What is known of the video that this side sends. Any thread; once for each unit is cheap.
  package var videoFlow: VideoFlow {
    let now = timekeeper.now
    return state.withLock { $0.endpoint.videoFlow(at: now) }
  }

  // MARK: - Inputs from the transport, any thread

  private func received(_ bytes: [UInt8]) {
    let queues = state.withLock { state in
      state.inbox.append(bytes)
      return state.claimPump()
    }
    if queues { runPump() }
  }

  private func transportClosed(_ cause: TransportClose) {
    let queues = state.withLock { state in
      state.transportClose = cause
      return state.claimPump()
    }
    if queues { runPump() }
  }

  private func send(_ input: (inout LinkEndpoint, Instant) -> Void) {
    let now = timekeeper.now
    let queues = state.withLock { state in
      input(&state.endpoint, now)
      return state.claimPump()
    }
    if queues { runPump() }
  }

  private func queuePump() {
    if state.withLock({ $0.claimPump() }) { runPump() }
  }

  private func runPump() {
    lane.run { [weak self] in self?.pump() }
  }

  // MARK: - On the lane

  fileprivate struct Step {
    var events: [LinkEvent] = []
    var handler: (@Sendable (LinkEvent) -> Void)?
    var bytes: [UInt8]?
    var consumed = 0
  }

  /// Gives the endpoint what has come, and carries out what it wants, until it wants nothing more.
  private func pump() {
    state.withLock { $0.isPumpQueued = false }
    while true {
      let room = transport.writableBytes
      let now = timekeeper.now
      let step = state.withLock { $0.step(at: now, room: min(room, Self.writeLimit)) }
      if let bytes = step.bytes { transport.write(bytes) }
      if step.consumed > 0 { transport.consumed(step.consumed) }
      for event in step.events {
        step.handler?(event)
        if case .closed = event {
          end()
          return
        }
      }
      if step.bytes == nil, step.events.isEmpty, step.consumed == 0 { break }
    }
    keepTime()
  }

  private func end() {
    let (timer, phase) = state.withLock { state in
      defer {
        state.phase = .closed
        state.timer = nil
        state.inbox = []
      }
      return (state.timer, state.phase)
    }
    timer?.cancel()
    transport.close()
    lane.end()
    // The handler is let go here, outside the lock.
    withExtendedLifetime(phase) {}
  }

  /// One timer stands for the endpoint's next deadline. When that moves later, as it does with every byte that comes,
  /// the timer stays: it finds nothing due and is set anew.
  private func keepTime() {
    let deadline: Instant? = state.withLock { state in
      guard let next = state.endpoint.nextDeadline, next < state.timerDeadline else { return nil }
      state.timerDeadline = next
      return next
    }
    guard let deadline else { return }
    let timer = lane.run(at: deadline) { [weak self] in self?.timerFired() }
    let old = state.withLock { state in
      defer { state.timer = timer }
      return state.timer
    }
    old?.cancel()
  }

  private func timerFired() {
    state.withLock { state in
      state.timer = nil
      state.timerDeadline = .distantFuture
    }
    pump()
  }
}

extension LinkConnection.State {
  /// True for the caller that has to queue the pump.
  fileprivate mutating func claimPump() -> Bool {
    guard case .running = phase, !isPumpQueued else { return false }
    isPumpQueued = true
    return true
  }

  /// What has come goes in before deadlines are looked at, so that a peer that was heard is not called silent.
  fileprivate mutating func step(at now: Instant, room: Int) -> LinkConnection.Step {
    guard case .running(let handler) = phase else { return LinkConnection.Step() }
    var step = LinkConnection.Step(handler: handler)
    for bytes in inbox {
      endpoint.received(bytes, at: now)
      step.consumed += bytes.count
    }
    inbox.removeAll(keepingCapacity: true)
    if let transportClose { endpoint.transportClosed(transportClose, at: now) }
    if let deadline = endpoint.nextDeadline, deadline <= now { endpoint.timeout(at: now) }
    step.bytes = endpoint.nextBytes(atMost: room, at: now)
    while let event = endpoint.nextEvent() { step.events.append(event) }
    return step
  }
}
