import Foundation
import Glibc
import LinkProtocol
import LinkTransport
import Units

/// `glasswing relay`: a bad network between two processes.
struct RelayCommand {
  /// A line of `--json`.
  struct Line: Codable, Equatable {
    var event: String
    var listen: String?
    var to: String?
    var seed: UInt64?
    var connection: Int?
    var peer: String?
    var fromClient: Int?
    var fromServer: Int?
    var cause: String?
    var step: String?

    enum CodingKeys: String, CodingKey {
      case event, listen, to, seed, connection, peer, cause, step
      case fromClient = "bytes_from_client"
      case fromServer = "bytes_from_server"
    }

    init(_ event: String) { self.event = event }
  }

  private let arguments: Arguments
  private let timekeeper: any Timekeeper
  private let log: EventLog

  init(_ arguments: Arguments, timekeeper: any Timekeeper = SystemTimekeeper.shared) {
    self.arguments = arguments
    self.timekeeper = timekeeper
    log = EventLog(arguments, timekeeper: timekeeper)
  }

  func run() async throws(CommandFailure) -> ExitStatus {
    let listen = try arguments.hostPort(.listen)
    let target = try arguments.hostPort(.to)
    guard target.port != 0 else { throw CommandFailure(subject: "--to", "needs a port, not 0") }
    let script = try readScript()
    let seed = script.seed ?? UInt64(clamping: arguments.count(.seed) ?? 1)
    let end = ResumeOnce<Void>()
    Interruption.shared.whenRaised { _ in end.resume(with: ()) }

    let conditioner = LinkConditioner(timekeeper: timekeeper, seed: seed)
    if let preset = arguments.givenText(.preset).flatMap(LinkPreset.init) { conditioner.apply(preset) }
    let relay: LinkRelay
    do throws(SocketFailure) {
      relay = try LinkRelay(on: listen, to: target, through: conditioner) { tell($0) }
      try relay.start()
    } catch {
      throw CommandFailure(subject: "\(listen)", "\(error)")
    }
    try tellBegin(relay.addresses, target, seed)
    let run = LinkScriptRun(script, on: conditioner, timekeeper: timekeeper) { step in
      var line = Line("step")
      line.step = "\(step.action)"
      log.write(line, "\(step.action)")
    }
    await end.value()
    run.stop()
    relay.stop()
    await log.end()
    return .done
  }

  private func readScript() throws(CommandFailure) -> LinkScript {
    guard let path = arguments.givenText(.script) else { return LinkScript() }
    let text: String
    do {
      // A byte more than a script may have is enough to refuse it.
      let file = try FileHandle(forReadingFrom: URL(filePath: path))
      text = String(decoding: try file.read(upToCount: LinkScript.mostBytes + 1) ?? Data(), as: UTF8.self)
    } catch {
      throw CommandFailure(subject: path, "can't be read: \(error.localizedDescription)")
    }
    do throws(LinkScriptError) { return try LinkScript(text) } catch { throw CommandFailure(subject: path, "\(error)") }
  }

  // MARK: What is said

  private func tellBegin(_ addresses: [SocketAddress], _ target: HostPort, _ seed: UInt64) throws(CommandFailure) {
    guard arguments.has(.json) else {
      for address in addresses { Console.shared.log("listening on \(address), forwarding to \(target)") }
      return
    }
    var line = Line("listening")
    line.listen = addresses.first.map { "\($0)" }
    line.to = "\(target)"
    line.seed = seed
    try Console.shared.result(JSONResult.line(line))
  }

  private func tell(_ event: LinkRelay.Event) {
    switch event {
    case .accepted(let number, let peer):
      var line = Line("accepted")
      line.connection = number
      line.peer = "\(peer)"
      log.write(line, "connection \(number) from \(peer)")
    case .ended(let number, let totals, let cause):
      var line = Line("ended")
      line.connection = number
      line.fromClient = totals.fromClient
      line.fromServer = totals.fromServer
      line.cause = Self.words(cause)
      log.write(
        line,
        "connection \(number) ended (\(Self.words(cause))): \(totals.fromServer) bytes to the app, "
          + "\(totals.fromClient) to the glasses")
    case .turnedAway(let peer):
      var line = Line("turned-away")
      line.peer = "\(peer)"
      log.write(line, "\(peer) was turned away: \(LinkRelay.connectionLimit) connections are open")
    }
  }

  private static func words(_ cause: TransportClose) -> String {
    switch cause {
    case .peerClosed: "closed by a peer"
    case .closedHere: "closed here"
    case .failed(let text): text
    }
  }
}
