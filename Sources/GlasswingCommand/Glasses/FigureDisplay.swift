import LinkProtocol
import Synchronization
import Units

/// Shows figures while something runs: four times a second in place on a terminal, else a line every five seconds.
final class FigureDisplay: Sendable {
  private let timekeeper: any Timekeeper
  private let lane: any Lane
  private let line: @Sendable () -> ProgressLine
  private let isOver = Atomic<Bool>(false)

  /// - Parameter line: the figures now.
  init(quiet: Bool, timekeeper: any Timekeeper, line: @escaping @Sendable () -> ProgressLine) {
    self.timekeeper = timekeeper
    self.line = line
    lane = timekeeper.makeLane("figures")
    if !quiet { schedule() }
  }

  private func schedule() {
    let interval: Duration = Console.shared.isTerminal ? .milliseconds(250) : .seconds(5)
    lane.run(at: timekeeper.now + interval) { [weak self] in
      guard let self, !isOver.load(ordering: .acquiring) else { return }
      show()
      schedule()
    }
  }

  private func show() {
    let text = line().text
    if Console.shared.isTerminal { Console.shared.progress(text) } else { Console.shared.log(text) }
  }

  func end() {
    isOver.store(true, ordering: .releasing)
    lane.end()
    Console.shared.endProgress()
  }
}
