import Units

/// How much recovering one attempt of a stream may do, as a value (STALL-4).
///
/// A stall ends by itself or by its own deadline; this bounds how often and how long in all, so that a stream that flaps
/// ends with one error instead of going on and off for ever. What lies further back than `window` is forgotten.
package struct RecoveryBudget: Sendable {
  package struct Limits: Hashable, Sendable {
    package var window: Duration = .seconds(60)
    /// Stalls in the window; the one after them ends the stream at once.
    package var stalls = 10
    /// Time without units in the window; the stall in which it is used up ends the stream then.
    package var stalledTime: Duration = .seconds(30)
    package init() {}
  }

  private struct Stall: Sendable {
    var began: Instant
    var ended: Instant
  }

  private let limits: Limits
  /// Those that are over, oldest first: `limits.stalls` at most.
  private var past: [Stall] = []
  private var present: Instant?

  package init(_ limits: Limits = Limits()) { self.limits = limits }

  /// A stall was noticed. Returns for how long the stream may wait for its end, from now; zero when the budget is spent.
  package mutating func begin(since began: Instant, at now: Instant) -> Duration {
    let start = now - limits.window
    past.removeAll { $0.ended <= start }
    guard past.count < limits.stalls else { return .zero }
    present = began
    let used = past.reduce(now - began) { $0 + ($1.ended - max($1.began, start)) }
    return max(.zero, limits.stalledTime - used)
  }

  /// The stall that began last is over.
  package mutating func end(at now: Instant) {
    guard let began = present else { return }
    present = nil
    past.append(Stall(began: began, ended: now))
  }
}
