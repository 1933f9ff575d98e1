import LinkProtocol
import Synchronization
import Units

/// The client's side of a resumable stream: connects, and connects again when a connection breaks or falls silent.
///
/// Kept by the transport that it serves, and gone with it.
package final class ResumableDialer: Sendable {
  /// A connection that was begun and does not carry the stream yet, or does.
  private struct Try {
    let transport: any ByteTransport
    /// What the stream's transport calls it, once it was asked to carry the stream.
    var number: UInt64?
  }

  private struct State {
    var schedule = RedialSchedule()
    var tries: [UInt64: Try] = [:]
    var nextTry: UInt64 = 1
    var timer: LaneTimer?
    var timerDeadline = Instant.distantFuture
    var isOver = false
    weak var stream: ResumableTransport?
  }

  private let dial: @Sendable () -> any ByteTransport
  private let timekeeper: any Timekeeper
  private let lane: any Lane
  private let state = Mutex(State())

  /// A stream that connects when it is opened. The first connection has one try: whether that comes up, and in which time,
  /// is for the connection to say, and its failure is the stream's.
  ///
  /// - Parameter dial: makes a connection, not opened. On the dialer's own lane.
  package static func stream(
    timekeeper: any Timekeeper, dial: @escaping @Sendable () -> any ByteTransport
  ) -> ResumableTransport {
    let dialer = ResumableDialer(timekeeper: timekeeper, dial: dial)
    let stream = ResumableTransport(
      ResumableStream(),
      owner: ResumableTransport.Owner(
        opened: { dialer.lane.run { dialer.connect() } }, attached: { dialer.attached() },
        heard: { dialer.heard() }, over: { dialer.end() }))
    dialer.state.withLock { $0.stream = stream }
    return stream
  }

  private init(timekeeper: any Timekeeper, dial: @escaping @Sendable () -> any ByteTransport) {
    self.timekeeper = timekeeper
    self.dial = dial
    lane = timekeeper.makeLane("gw-dial")
  }

  deinit { lane.end() }

  // MARK: - Tries

  private func connect() {
    let transport = dial()
    let (number, oldest): (UInt64?, Try?) = state.withLock { state in
      guard !state.isOver else { return (nil, nil) }
      let number = state.nextTry
      state.nextTry += 1
      let waiting = state.tries.filter { $0.value.number == nil }
      let oldest = waiting.count < RedialSchedule.most ? nil : waiting.keys.min()
      state.tries[number] = Try(transport: transport)
      return (number, oldest.flatMap { state.tries.removeValue(forKey: $0) })
    }
    oldest?.transport.close()
    guard let number else { return transport.close() }
    transport.open(
      TransportHandlers(
        received: { [weak self] bytes in self?.received(bytes, on: number) },
        writable: { [weak self] in self?.writable(number) },
        closed: { [weak self] cause in self?.closed(number, cause) }))
    // One that is up from the start has nothing to say of it.
    if transport.writableBytes > 0 { writable(number) }
    keepTime()
  }

  /// A try that can be written to is up.
  private func writable(_ number: UInt64) {
    enum Next { case nothing, drop(Try), ask(Try), pass(UInt64) }
    let now = timekeeper.now
    let (next, stream): (Next, ResumableTransport?) = state.withLock { state in
      guard let one = state.tries[number] else { return (.nothing, nil) }
      if let carried = one.number { return (.pass(carried), state.stream) }
      guard state.schedule.cameUp(at: now) else {
        state.tries[number] = nil
        return (.drop(one), nil)
      }
      return (.ask(one), state.stream)
    }
    switch next {
    case .nothing: break
    case .drop(let one): one.transport.close()
    case .pass(let carried): stream?.writable(on: carried)
    case .ask(let one):
      stream?.connect(one.transport) { carried in state.withLock { $0.tries[number]?.number = carried } }
    }
    keepTime()
  }

  private func received(_ bytes: [UInt8], on number: UInt64) {
    let (carried, stream) = state.withLock { ($0.tries[number]?.number, $0.stream) }
    // A server that speaks before it is asked is none of ours.
    if let carried { stream?.received(bytes, on: carried) }
  }

  private func closed(_ number: UInt64, _ cause: TransportClose) {
    let now = timekeeper.now
    let (one, stream) = state.withLock { ($0.tries.removeValue(forKey: number), $0.stream) }
    guard let one else { return }
    if let carried = one.number, stream?.closed(carried) == true {
      state.withLock { $0.schedule.lost(at: now) }
    }
    if !hasHadConnection { stream?.fail(Self.words(cause)) }
    keepTime()
  }

  private var hasHadConnection: Bool { state.withLock { $0.stream }.map { $0.token != .none } ?? false }

  // MARK: - News of the stream

  private func attached() {
    let now = timekeeper.now
    let others: [Try] = state.withLock { state in
      state.schedule.heard(at: now)
      let others = state.tries.filter { $0.value.number == nil }
      for number in others.keys { state.tries[number] = nil }
      return Array(others.values)
    }
    for other in others { other.transport.close() }
    keepTime()
  }

  private func heard() {
    let now = timekeeper.now
    // Not with the lock held: a stream that is let go of there would come back here.
    guard state.withLock({ $0.stream })?.isCarried == true else { return }
    state.withLock { $0.schedule.heard(at: now) }
  }

  private func end() {
    let (tries, timer): ([Try], LaneTimer?) = state.withLock { state in
      state.isOver = true
      state.schedule.end()
      defer {
        state.tries = [:]
        state.timer = nil
      }
      return (Array(state.tries.values), state.timer)
    }
    timer?.cancel()
    for one in tries { one.transport.close() }
    lane.end()
  }

  // MARK: - Time

  /// One timer for the schedule's next deadline. When that moves later, as it does with all that is heard, the timer
  /// stays: it finds nothing due and is set anew.
  private func keepTime() {
    // In one step, since this is called on any thread: of two at once the earlier deadline has to stay.
    let old: LaneTimer? = state.withLock { state in
      guard let next = state.schedule.nextDeadline, next < state.timerDeadline else { return nil }
      state.timerDeadline = next
      defer { state.timer = lane.run(at: next) { [weak self] in self?.timerFired() } }
      return state.timer
    }
    old?.cancel()
  }

  private func timerFired() {
    let now = timekeeper.now
    let isDue = state.withLock { state in
      state.timer = nil
      state.timerDeadline = .distantFuture
      return state.schedule.isDue(at: now)
    }
    if isDue { connect() }
    keepTime()
  }

  private static func words(_ cause: TransportClose) -> String {
    switch cause {
    case .peerClosed: "the other end closed the connection before it had begun"
    case .closedHere: "the connection was closed before it had begun"
    case .failed(let words): words
    }
  }
}
