import LinkProtocol
import Synchronization
import Units

/// What a walk saw that must not be, in words.
final class Findings: Sendable {
  private let texts = Mutex<[String]>([])

  var all: [String] { texts.withLock { $0 } }

  /// Enough to know what is wrong; a broken rule is often broken again at once.
  func add(_ text: String) {
    texts.withLock { if $0.count < 20 { $0.append(text) } }
  }
}

/// What walks came by, so that one that only seems to go somewhere is noticed; and in which order.
final class Coverage: Sendable {
  private struct State {
    var counts: [String: Int] = [:]
    var log: [String] = []
  }

  private let keepsLog: Bool
  private let state = Mutex(State())

  init(keepsLog: Bool = false) { self.keepsLog = keepsLog }

  func add(_ event: String, at time: Instant) {
    state.withLock { state in
      state.counts[event, default: 0] += 1
      if keepsLog { state.log.append("\(time.nanoseconds) \(event)") }
    }
  }

  func count(_ event: String) -> Int { state.withLock { $0.counts[event] ?? 0 } }
  var log: [String] { state.withLock { $0.log } }

  var summary: String {
    let counts = state.withLock { $0.counts }
    return counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
  }
}

/// How strictly a walk can be judged.
struct Strictness: Sendable {
  /// Nothing runs at the same time, so that what a listener reads is what it was called for.
  let isExact: Bool
  /// What a deadline may be late by.
  let slack: Duration

  static let byHand = Strictness(isExact: true, slack: .milliseconds(1))
  /// A busy machine may keep a thread from running for seconds.
  static let threads = Strictness(isExact: false, slack: .seconds(10))
}

/// One object's path through its states, held against the table of legal steps.
struct StatePath<State: Hashable & Sendable>: Sendable {
  let name: String
  let legal: [State: Set<State>]
  let bound: @Sendable (State) -> Duration?
  private(set) var state: State
  private(set) var since: Instant

  init(
    _ name: String, from state: State, at now: Instant, legal: [State: Set<State>],
    bound: @escaping @Sendable (State) -> Duration?
  ) {
    self.name = name
    self.legal = legal
    self.bound = bound
    self.state = state
    since = now
  }

  /// Text when the step is not legal.
  mutating func move(to new: State, at now: Instant) -> String? {
    defer {
      state = new
      since = now
    }
    return legal[state]?.contains(new) == true ? nil : "\(name): \(state) was followed by \(new)"
  }

  /// Text when the state has lasted longer than it may.
  func overdue(at now: Instant, slack: Duration) -> String? {
    guard let bound = bound(state), now - since > bound + slack else { return nil }
    return "\(name): \(state) for \(now - since), which may take \(bound)"
  }
}
