import LinkProtocol
import MWDATCore
import Units

/// What the listeners of one session may hear, as a value.
struct SessionModel: Sendable {
  private(set) var path: StatePath<DeviceSessionState>
  private let strictness: Strictness
  private var explanation: DeviceSessionError?
  private var wasStopped = false

  init(_ name: String, from state: DeviceSessionState, at now: Instant, _ strictness: Strictness) {
    path = StatePath(name, from: state, at: now, legal: LegalPaths.session, bound: StateBounds.bound)
    self.strictness = strictness
  }

  private var name: String { path.name }

  mutating func moved(to state: DeviceSessionState, at now: Instant) -> [String] {
    let before = path.state
    var wrong = path.move(to: state, at: now).map { [$0] } ?? []
    if let explanation, state != .stopping, before != .stopping {
      wrong.append("\(name): the error \(explanation) was followed by \(state)")
    }
    if state == .stopping, explanation == nil, !wasStopped {
      wrong.append("\(name): ends from \(before) without an error, and nobody asked for it")
    }
    return wrong
  }

  mutating func failed(_ error: DeviceSessionError) -> [String] {
    // A warning, not an end.
    if error == .dwaOutOfStuRange { return [] }
    if let explanation { return ["\(name): \(error) after \(explanation)"] }
    explanation = error
    switch path.state {
    case .idle, .stopping, .stopped: return ["\(name): \(error) while \(path.state)"]
    case .starting, .started, .paused: return []
    }
  }

  /// By the app, or by letting go of it.
  mutating func endWished() { wasStopped = true }

  mutating func settled(state: DeviceSessionState?, at now: Instant) -> [String] {
    var wrong: [String] = []
    if let state, strictness.isExact, state != path.state {
      wrong.append("\(name): is \(state), and its listeners heard \(path.state) last")
    }
    if let text = path.overdue(at: now, slack: strictness.slack) { wrong.append(text) }
    return wrong
  }
}
