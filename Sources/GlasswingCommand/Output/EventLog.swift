import LinkProtocol
import LinkTransport
import Synchronization
import Units

/// What a program that runs for long says of what happens: a line an event on standard error, or, with `--json`, an object
/// a line on standard output.
///
/// It writes on a lane of its own, and keeps few lines: a reader that has stopped reading, as a pager or a stopped
/// terminal, must not stop the program. Lines that find no room are counted instead.
final class EventLog: Sendable {
  /// Lines that wait to be written.
  static let most = 256

  private struct LeftOut: Encodable {
    let event = "left_out"
    let count: Int
  }

  private struct Waiting {
    var lines = 0
    var leftOut = 0
  }

  private let timekeeper: any Timekeeper
  private let lane: any Lane
  private let isJSON: Bool
  private let out: @Sendable (String) -> Void
  private let waiting = Mutex(Waiting())

  /// - Parameter out: takes what is written, and may block; nil for the console.
  init(
    _ arguments: Arguments, timekeeper: any Timekeeper = SystemTimekeeper.shared,
    out: (@Sendable (String) -> Void)? = nil
  ) {
    let (isJSON, isQuiet) = (arguments.has(.json), arguments.has(.quiet))
    self.isJSON = isJSON
    self.out =
      out ?? { text in
        if isJSON {
          // Nobody may be reading any more: the program goes on.
          try? Console.shared.result(text)
        } else if !isQuiet {
          Console.shared.log(text)
        }
      }
    self.timekeeper = timekeeper
    lane = timekeeper.makeLane("gw-journal")
  }

  deinit { lane.end() }

  /// Any thread; returns at once.
  ///
  /// - Parameters:
  ///   - line: for `--json`.
  ///   - words: for people.
  func write(_ line: some Encodable & Sendable, _ words: String) {
    let hasRoom = waiting.withLock { waiting in
      guard waiting.lines < Self.most else {
        waiting.leftOut = waiting.leftOut.addingSaturating(1)
        return false
      }
      waiting.lines += 1
      return true
    }
    guard hasRoom else { return }
    lane.run { [self] in
      let leftOut = waiting.withLock { waiting in
        waiting.lines -= 1
        defer { waiting.leftOut = 0 }
        return waiting.leftOut
      }
      if leftOut > 0 { out(text(LeftOut(count: leftOut), "\(leftOut) lines were left out")) }
      out(text(line, words))
    }
  }

  /// Waits until all is written, but not for a reader that has stopped.
  func end(within limit: Duration = .milliseconds(200)) async {
    let gate = ResumeOnce<Void>()
    lane.run { gate.resume(with: ()) }
    await gate.value(within: limit, on: timekeeper, else: ())
  }

  private func text(_ line: some Encodable, _ words: String) -> String {
    isJSON ? JSONResult.line(line) : Self.shown(words)
  }

  /// Names and reasons come from peers: nothing of them moves a terminal's cursor.
  static func shown(_ words: String) -> String {
    String(
      String.UnicodeScalarView(
        words.unicodeScalars.map { scalar in
          switch scalar.properties.generalCategory {
          case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: "\u{FFFD}"
          case .format: scalar == "\u{200D}" ? scalar : "\u{FFFD}"
          case _: scalar
          }
        }))
  }
}
