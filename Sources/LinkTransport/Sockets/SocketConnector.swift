import Glibc
import LinkProtocol
import Synchronization
import Units

/// Carries out a `ConnectRace` with sockets. Ends in one call of `finished`, unless it is cancelled.
final class SocketConnector: Sendable {
  private struct State {
    var race: ConnectRace
    var addresses: [SystemAddress] = []
    var attempts: [Int: Attempt] = [:]
    var timer: LaneTimer?
    var timerDeadline = Instant.distantFuture
    var finished: (@Sendable (Result<Int32, SocketFailure>) -> Void)?
  }

  private struct Attempt {
    let descriptor: Int32
    var token: UInt64?
  }

  /// What the reactor tells of one attempt.
  private final class Watcher: SocketWatcher {
    private let connector: SocketConnector
    private let index: Int

    init(_ connector: SocketConnector, _ index: Int) {
      self.connector = connector
      self.index = index
    }

    func happened(_ events: SocketEvents, scratch: UnsafeMutableRawBufferPointer) { connector.progressed(index) }
  }

  private let kind: StreamKind
  private let options: StreamOptions
  private let reactor: SocketReactor
  private let state: Mutex<State>

  /// - Parameter finished: gets the descriptor of the connection, and owns it from there on. Any thread.
  init(
    _ kind: StreamKind, options: StreamOptions, reactor: SocketReactor,
    finished: @escaping @Sendable (Result<Int32, SocketFailure>) -> Void
  ) {
    self.kind = kind
    self.options = options
    self.reactor = reactor
    let race = ConnectRace(openedAt: reactor.timekeeper.now, limit: options.connectLimit)
    state = Mutex(State(race: race, finished: finished))
  }

  func begin(_ addresses: [SystemAddress]) {
    step { state, now in
      state.addresses = addresses
      return state.race.resolved(addresses.map(\.text), at: now)
    }
  }

  /// Asks the resolver first, on a thread of its own, which outlives a deadline that comes before the answer.
  func begin(_ hostPort: HostPort) {
    // Sets the timer.
    step { _, _ in [] }
    let lane = SystemTimekeeper.shared.makeLane("resolver")
    lane.run { [self] in
      do throws(SocketFailure) {
        begin(try NameResolver.addresses(of: hostPort).map(\.system))
      } catch {
        step { state, _ in state.race.notResolved(error) }
      }
      lane.end()
    }
  }

  /// After it has returned no call of `finished` begins. Idempotent.
  func cancel() {
    let (dropped, timer) = state.withLock { state in
      defer { state.timer = nil }
      closeAttempts(&state, but: nil)
      return (state.finished.take(), state.timer)
    }
    timer?.cancel()
    withExtendedLifetime(dropped) {}
  }

  private func progressed(_ index: Int) {
    step { state, now in
      guard let attempt = state.attempts[index] else { return [] }
      let address = state.addresses[index]
      if let code = SocketCalls.connectError(attempt.descriptor) {
        closeAttempt(index, &state)
        return state.race.failed(index, .system("connect", subject: address.text, code: code), at: now)
      }
      return connected(index, &state, now)
    }
  }

  private func connected(_ index: Int, _ state: inout State, _ now: Instant) -> [ConnectRace.Action] {
    guard let attempt = state.attempts[index] else { return [] }
    // A port of this host that nobody serves may be the one that the attempt itself was given: then TCP joins it to
    // itself.
    let isItsOwnPeer =
      switch kind {
      case .tcp: SocketCalls.localAddress(attempt.descriptor) == SocketCalls.peerAddress(attempt.descriptor)
      case .unix: false
      }
    guard isItsOwnPeer else { return state.race.connected(index) }
    let text = state.addresses[index].text
    closeAttempt(index, &state)
    return state.race.failed(index, .system("connect", subject: text, code: ECONNREFUSED), at: now)
  }

  /// Puts an input to the race and does what it says until it says nothing more.
  private func step(_ input: (inout State, Instant) -> [ConnectRace.Action]) {
    let now = reactor.timekeeper.now
    let (finished, result, timer) = state.withLock { state in
      guard state.finished != nil else {
        return (nil, nil, nil)
          as (
            (@Sendable (Result<Int32, SocketFailure>) -> Void)?, Result<Int32, SocketFailure>?, LaneTimer?
          )
      }
      var actions = input(&state, now)
      while let action = actions.popLast() {
        switch action {
        case .begin(let index): actions += attempt(index, &state, now)
        case .won(let index):
          let descriptor = take(index, &state)
          closeAttempts(&state, but: index)
          return (state.finished.take(), descriptor.map { .success($0) }, state.timer.take())
        case .lost(let failure):
          closeAttempts(&state, but: nil)
          return (state.finished.take(), .failure(failure), state.timer.take())
        }
      }
      return (nil, nil, keepTime(&state))
    }
    timer?.cancel()
    if let finished, let result { finished(result) }
  }

  /// Returns a timer that is no longer needed.
  private func keepTime(_ state: inout State) -> LaneTimer? {
    guard let next = state.race.nextDeadline, next != state.timerDeadline else { return nil }
    let old = state.timer
    state.timerDeadline = next
    state.timer = reactor.deadlines.run(at: next) { [weak self] in self?.timeout() }
    return old
  }

  private func timeout() {
    step { state, now in
      state.timerDeadline = .distantFuture
      return state.race.timeout(at: now)
    }
  }

  // MARK: - Attempts, under the lock

  private func attempt(_ index: Int, _ state: inout State, _ now: Instant) -> [ConnectRace.Action] {
    let address = state.addresses[index]
    do throws(SocketFailure) {
      let descriptor = try SocketCalls.make(address.family, for: address.text)
      kind.prepare(descriptor, options)
      state.attempts[index] = Attempt(descriptor: descriptor)
      guard let code = SocketCalls.connect(descriptor, to: address) else { return connected(index, &state, now) }
      guard code == EINPROGRESS else { throw .system("connect", subject: address.text, code: code) }
      state.attempts[index]?.token = try reactor.add(Watcher(self, index), descriptor, for: .writable)
      return []
    } catch {
      closeAttempt(index, &state)
      return state.race.failed(index, error, at: now)
    }
  }

  /// The descriptor is no longer watched and no longer the connector's.
  private func take(_ index: Int, _ state: inout State) -> Int32? {
    guard let attempt = state.attempts.removeValue(forKey: index) else { return nil }
    if let token = attempt.token { reactor.remove(token, attempt.descriptor) }
    return attempt.descriptor
  }

  private func closeAttempt(_ index: Int, _ state: inout State) {
    if let descriptor = take(index, &state) { close(descriptor) }
  }

  private func closeAttempts(_ state: inout State, but winner: Int?) {
    for index in state.attempts.keys where index != winner { closeAttempt(index, &state) }
  }
}
