import GlassesAgent
import LinkProtocol
import LinkTransport
import Synchronization
import Trust
import Units

/// Says what happens at glasses: a line an event on standard error, or an object a line on standard output.
///
/// It writes on a lane of its own, and keeps few lines: a reader that has stopped reading, as a pager or a stopped
/// terminal, must not stop the glasses. Lines that find no room are counted instead.
final class GlassesJournal: Sendable {
  /// Lines that wait to be written.
  static let most = 256

  /// For `--json`.
  struct Line: Codable, Equatable {
    var event: String
    var identifier: String?
    var name: String?
    var model: String?
    var addresses: [String]?
    var folder: String?
    var app: String?
    var host: String?
    var width: Int?
    var height: Int?
    var fps: Int?
    var reason: String?
    /// Of lines that were left out.
    var count: Int?
  }

  private struct Waiting {
    var lines = 0
    var leftOut = 0
  }

  private let timekeeper: any Timekeeper
  private let lane: any Lane
  private let out: @Sendable (Line, String) -> Void
  private let waiting = Mutex(Waiting())

  /// - Parameter out: takes what is written, and may block; nil for the console.
  init(
    _ arguments: Arguments, timekeeper: any Timekeeper = SystemTimekeeper.shared,
    out: (@Sendable (Line, String) -> Void)? = nil
  ) {
    let (isJSON, isQuiet) = (arguments.has(.json), arguments.has(.quiet))
    self.out =
      out ?? { line, words in
        if isJSON {
          // Nobody may be reading any more: the glasses go on.
          try? Console.shared.result(JSONResult.line(line))
        } else if !isQuiet {
          Console.shared.log(Self.shown(words))
        }
      }
    self.timekeeper = timekeeper
    lane = timekeeper.makeLane("gw-journal")
  }

  deinit { lane.end() }

  /// Waits until all is written, but not for a reader that has stopped.
  func end(within limit: Duration = .milliseconds(200)) async {
    let gate = ResumeOnce<Void>()
    let clock = timekeeper.makeLane("gw-journal-end")
    defer { clock.end() }
    clock.run(at: timekeeper.now + limit) { gate.resume(with: ()) }
    lane.run { gate.resume(with: ()) }
    await gate.value()
  }

  func started(_ server: GlassesServer) {
    let addresses = server.addresses.map(\.description)
    let (identity, folder) = (server.agent.identity, server.home.path)
    write(
      Line(
        event: "listening", identifier: identity.identifier, name: identity.name, model: identity.model,
        addresses: addresses, folder: folder),
      "\(identity.name) (\(identity.identifier)) at \(addresses.joined(separator: " and ")); Ctrl-C ends it")
  }

  func note(_ event: GlassesServer.Event) {
    switch event {
    case .agent(let news): note(news)
    case .paired(let host): write(Line(event: "paired", host: host), "paired with \(host)")
    case .unpaired(let host): write(Line(event: "unpaired", host: host), "unpaired from \(host)")
    case .pairingFailed(let words):
      write(
        Line(event: "pairing_failed", reason: words), "the pairing code is used up, and nothing is paired: \(words)")
    case .pairingExpired: write(Line(event: "pairing_expired"), "the pairing code has expired")
    case .turnedAway(let address, let words):
      write(Line(event: "turned_away", addresses: ["\(address)"], reason: words), "\(address): \(words)")
    case .storeFailed(let words): write(Line(event: "store_failed", reason: words), words)
    }
  }

  private func note(_ news: AgentNews) {
    switch news {
    case .linkOpened(let hello):
      write(Self.line("connected", hello), "\(Self.who(hello)) is connected")
    case .linkClosed(let hello, let close):
      let reason = Self.words(close)
      write(Self.line("disconnected", hello, reason: reason), "\(Self.who(hello)) is gone: \(reason)")
    case .streamStarted(let hello, let video):
      write(
        Line(
          event: "streaming", app: hello.identifier, width: video.size.width, height: video.size.height,
          fps: Int(video.frameRate)),
        "\(Self.who(hello)) streams \(video.size.width)x\(video.size.height) at \(video.frameRate) fps")
    case .streamStopped(let hello):
      write(Line(event: "stream_stopped", app: hello.identifier), "\(Self.who(hello)) streams no more")
    // Told as `unpaired`, by the host's name.
    case .unpaired: break
    }
  }

  private static func line(_ event: String, _ hello: Hello, reason: String? = nil) -> Line {
    hello.role == .companion
      ? Line(event: event, host: hello.name, reason: reason)
      : Line(event: event, app: hello.identifier, reason: reason)
  }

  private static func who(_ hello: Hello) -> String {
    hello.role == .companion ? "companion of \(hello.name)" : hello.name
  }

  private static func words(_ close: LinkClose) -> String {
    switch close.cause {
    case .goodbye(let goodbye): goodbye.text.isEmpty ? "it said goodbye" : goodbye.text
    case .finished: "told goodbye"
    case .transport(.failed(let words)): words
    case .transport: "the connection was closed"
    case .protocolError(let error): error.description
    case .silent: "it fell silent"
    }
  }

  private func write(_ line: Line, _ words: String) {
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
      if leftOut > 0 { out(Line(event: "left_out", count: leftOut), "\(leftOut) lines were left out") }
      out(line, words)
    }
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
