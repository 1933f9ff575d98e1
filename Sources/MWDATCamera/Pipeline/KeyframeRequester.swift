import LinkProtocol
import LinkTransport
import Synchronization
import Units

/// Asks the glasses for a sync unit on behalf of all who need one: loss gate, decoder, listeners, app. When, and how
/// often, is `KeyframeSchedule`'s; here it has its clock: one timer on the link's lane, which is there only while a sync
/// unit is needed, so that a request is repeated also when nothing arrives.
///
/// Any thread; nothing waits.
final class KeyframeRequester: Sendable {
  private struct State {
    /// Whom to ask for; nil while no stream is open.
    var stream: StreamID?
    /// The session rests, and the glasses begin with a sync unit after it.
    var isHeld = false
    var schedule = KeyframeSchedule()
    var timer: LaneTimer?
    /// When the timer fires.
    var timerDeadline = Instant.distantFuture
  }

  private let link: LinkConnection
  private let timekeeper: any Timekeeper
  private let telemetry: TelemetryRecorder
  private let state = Mutex(State())

  init(link: LinkConnection, timekeeper: any Timekeeper, telemetry: TelemetryRecorder) {
    self.link = link
    self.timekeeper = timekeeper
    self.telemetry = telemetry
  }

  func open(_ stream: StreamID) { begin(State(stream: stream)) }
  func close() { begin(State()) }

  /// Nobody is asked until `resume`.
  func hold() {
    state.withLock { state in
      state.isHeld = true
      state.schedule.arrived()
      keepTime(&state)
    }
  }

  func resume() { state.withLock { $0.isHeld = false } }

  /// Asks now, or as soon as the request before is long enough ago, and on until a sync unit has come.
  func request(_ reason: KeyframeRequest.Reason) {
    let now = timekeeper.now
    state.withLock { state in
      guard state.stream != nil, !state.isHeld else { return }
      state.schedule.want(reason, at: now)
      ask(at: now, &state)
    }
  }

  /// A sync unit has come that others can begin with.
  func syncUnitArrived() {
    state.withLock { state in
      state.schedule.arrived()
      keepTime(&state)
    }
  }

  private func begin(_ new: State) {
    state.withLock { state in
      state.timer?.cancel()
      state = new
    }
  }

  private func timerFired() {
    let now = timekeeper.now
    state.withLock { state in
      state.timer = nil
      state.timerDeadline = .distantFuture
      ask(at: now, &state)
    }
  }

  private func ask(at now: Instant, _ state: inout State) {
    if let stream = state.stream, let reason = state.schedule.timeout(at: now) {
      link.send(.keyframeRequest(KeyframeRequest(stream: stream, reason: reason)))
      telemetry.note(.keyframeRequested(reason))
    }
    keepTime(&state)
  }

  /// A timer that fires too early finds nothing due and is set anew.
  private func keepTime(_ state: inout State) {
    guard let next = state.schedule.nextDeadline else {
      state.timer?.cancel()
      state.timer = nil
      state.timerDeadline = .distantFuture
      return
    }
    guard next < state.timerDeadline else { return }
    state.timer?.cancel()
    state.timerDeadline = next
    state.timer = link.lane.run(at: next) { [weak self] in self?.timerFired() }
  }
}
