import LinkProtocol
import LinkTransport
import Synchronization
import Units

/// Asks the glasses for a sync unit on behalf of all who need one: loss gate, decoder, listeners, app.
///
/// Requests that follow another within `spacing` are left out: the sync unit that the earlier one brings serves all.
final class KeyframeRequester: Sendable {
  /// Below the loss gate's first back-off, so that a repetition of its is never left out.
  static let spacing: Duration = .milliseconds(100)

  private struct State {
    /// Whom to ask for; nil while no stream is open.
    var stream: StreamID?
    var last: Instant?
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

  func open(_ stream: StreamID) { state.withLock { $0 = State(stream: stream) } }
  func close() { state.withLock { $0 = State() } }

  /// Any thread; returns at once.
  func request(_ reason: KeyframeRequest.Reason) {
    let now = timekeeper.now
    state.withLock { state in
      guard let stream = state.stream else { return }
      if let last = state.last, now - last < Self.spacing { return }
      state.last = now
      link.send(.keyframeRequest(KeyframeRequest(stream: stream, reason: reason)))
      telemetry.note(.keyframeRequested(reason))
    }
  }
}
