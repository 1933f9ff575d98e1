import GlassesAgent
import LinkProtocol
import LinkTransport
import Trust

/// Says what happens at glasses.
struct GlassesJournal: Sendable {
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
  }

  private let log: EventLog

  init(_ log: EventLog) { self.log = log }

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

  private func write(_ line: Line, _ words: String) { log.write(line, words) }
}
