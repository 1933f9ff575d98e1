import GlassesAgent
import TestSupport
import Testing

@testable import GlasswingCommand

@Suite("The journal of glasses")
struct GlassesJournalTests {
  private func arguments() throws -> Arguments {
    guard case .run(let arguments) = try ArgumentParser.parse(["glasses"]) else { throw CancellationError() }
    return arguments
  }

  @Test("A reader that has stopped reading stops nobody: few lines wait for it, and it is told how many it has missed")
  func stoppedReader() async throws {
    let gate = Gate()
    let written = Observed<String>()
    let log = EventLog(try arguments()) { words in
      gate.wait()
      written.record(words)
    }
    let journal = GlassesJournal(log)
    for number in 0..<10_000 { journal.note(.paired(host: "\(number)")) }
    gate.open()
    await log.end(within: .seconds(60))
    let lines = written.values
    let counts = lines.compactMap { line in
      line.hasSuffix("lines were left out") ? line.split(separator: " ").first.flatMap { Int($0) } : nil
    }
    let told = lines.count - counts.count
    // One is in the reader's hands; and what was left out before that one came is told apart.
    #expect(told <= EventLog.most + 1 && 1...2 ~= counts.count)
    #expect(counts.reduce(told, +) == 10_000)
  }

  @Test("The end of glasses does not wait for a reader that has stopped")
  func endsWithoutReader() async throws {
    let gate = Gate()
    let log = EventLog(try arguments()) { _ in gate.wait() }
    GlassesJournal(log).note(.pairingExpired)
    await log.end(within: .milliseconds(1))
    gate.open()
  }

  @Test("What peers call themselves moves no cursor")
  func shown() {
    #expect(EventLog.shown("a\u{1B}[2Jb\n\u{202E}c 👩‍🔧") == "a\u{FFFD}[2Jb\u{FFFD}\u{FFFD}c 👩‍🔧")
  }
}
