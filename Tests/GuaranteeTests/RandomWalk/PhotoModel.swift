import LinkProtocol
import MWDATCamera
import MWDATCore
import Units

/// What the listeners of standalone photos may hear, as a value.
struct PhotoModel: Sendable {
  private(set) var path: StatePath<PhotoState>
  private let strictness: Strictness
  private var isExplained = false
  private var wishes = 0
  private var captures = 0
  private var results = 0
  private var lastAnnounced: Instant

  init(_ name: String, at now: Instant, _ strictness: Strictness) {
    path = StatePath(name, from: .stopped, at: now, legal: LegalPaths.photo, bound: StateBounds.bound)
    self.strictness = strictness
    lastAnnounced = now
  }

  private var name: String { path.name }

  mutating func moved(to state: PhotoState, isParentEnding: Bool, at now: Instant) -> [String] {
    let before = path.state
    var wrong = path.move(to: state, at: now).map { [$0] } ?? []
    if state == .stopping {
      if !isExplained, !isParentEnding, wishes == 0 {
        wrong.append("\(name): ends from \(before) without an error, and nobody asked for it")
      }
      if !isExplained { wishes = max(0, wishes - 1) }
      isExplained = false
    } else if isExplained {
      wrong.append("\(name): the start failed, and \(state) followed")
      isExplained = false
    }
    return wrong
  }

  mutating func failed(_ error: PhotoError, at now: Instant) -> [String] {
    switch error {
    case .sessionSetupFailed:
      // Also the answer to starting what is over.
      isExplained = path.state != .stopped
      return []
    case .permissionDenied where path.state == .starting:
      isExplained = true
      return []
    case .notReady, .captureFailure, .busy, .serviceUnavailable, .permissionDenied, .deviceHealthCritical,
      .deviceDisconnected:
      return ended()
    }
  }

  mutating func came() -> [String] {
    path.state == .started ? ended() : ["\(name): a photo while \(path.state)"] + ended()
  }

  mutating func moves() -> [String] { path.state == .started ? [] : ["\(name): progress while \(path.state)"] }

  private mutating func ended() -> [String] {
    results += 1
    return results > captures ? ["\(name): \(results) results for \(captures) captures"] : []
  }

  mutating func captured() { captures += 1 }
  mutating func endWished() { wishes += 1 }

  mutating func settled(at now: Instant) -> [String] {
    var wrong: [String] = []
    if path.state == .stopped {
      wishes = 0
      if results != captures { wrong.append("\(name): \(captures - results) captures have had no result") }
    }
    if let text = path.overdue(at: now, slack: strictness.slack) { wrong.append(text) }
    return wrong
  }
}
