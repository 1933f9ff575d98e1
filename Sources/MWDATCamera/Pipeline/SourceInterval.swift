import Units

/// How far apart a source takes its pictures, read off the capture times of what arrives; what was lost on the way is
/// counted in, so that loss doesn't make a source look slow.
struct SourceInterval: Sendable {
  /// One that is long by accident doesn't make a source a slow one.
  private static let remembered = 4

  private var intervals = [Duration](repeating: .zero, count: remembered)
  private var next = 0
  private var last: Instant?

  /// The shortest of the last ones; zero until as many are known.
  var shortest: Duration { intervals.min() ?? .zero }

  /// - Parameters:
  ///   - captured: of the unit that arrived, whether it can be used or not.
  ///   - lostBefore: units that are missing since the one before.
  ///   - isGap: the sender left something out, nobody knows how much.
  mutating func arrived(captured: Instant, lostBefore: Int, isGap: Bool) {
    defer { last = captured }
    guard let last, !isGap else { return }
    intervals[next] = (captured - last) / max(1, lostBefore.addingSaturating(1))
    next = (next + 1) % Self.remembered
  }

  /// What comes next has nothing to do with what came before.
  mutating func rested() { last = nil }
}
