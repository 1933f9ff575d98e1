import LinkProtocol
import Units

/// Tells of what may happen often at most once a second for each number, summed up.
struct SumTeller: Sendable {
  private let sums = ListenerDrops()
  private let lane: any Lane
  private let timekeeper: any Timekeeper
  private let tell: @Sendable (_ number: Int, _ count: Int) -> Void

  /// - Parameter lane: what is told late is told there; what is told at once, on the caller's thread.
  init(
    lane: any Lane, timekeeper: any Timekeeper, tell: @escaping @Sendable (_ number: Int, _ count: Int) -> Void
  ) {
    self.lane = lane
    self.timekeeper = timekeeper
    self.tell = tell
  }

  /// Any thread.
  func add(_ count: Int, to number: Int) {
    switch sums.missed(count, by: number, at: timekeeper.now) {
    case .tell(let sum):
      tell(number, sum)
    case .wait(let deadline):
      lane.run(at: deadline) { [sums, timekeeper, tell] in
        if let sum = sums.due(number, at: timekeeper.now) { tell(number, sum) }
      }
    case .nothing:
      break
    }
  }
}
