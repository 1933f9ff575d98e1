import Foundation
import GlassesAgent
import LinkProtocol
import LinkTransport
import Units

/// `glasswing glasses`: simulated glasses, or a board's, on the network until they are signalled.
struct GlassesCommand {
  private let arguments: Arguments
  private let timekeeper: any Timekeeper

  init(_ arguments: Arguments, timekeeper: any Timekeeper = SystemTimekeeper.shared) {
    self.arguments = arguments
    self.timekeeper = timekeeper
  }

  func run() async throws(CommandFailure) -> ExitStatus {
    let end = ResumeOnce<Void>()
    Interruption.shared.whenRaised { _ in end.resume(with: ()) }
    let listen = try listenAddress()
    let (feed, reader) = try feed()
    let home = try openHome()
    for warning in home.warnings { Console.shared.log(warning) }
    let agent = makeAgent(home, feed)
    let server: GlassesServer
    let control: ControlService
    let log = EventLog(arguments, timekeeper: timekeeper)
    let journal = GlassesJournal(log)
    do throws(SocketFailure) {
      server = try GlassesServer(agent, home, listen: listen, timekeeper: timekeeper)
      control = ControlService(server, timekeeper: timekeeper)
      try server.start { journal.note($0) }
      try control.start()
      journal.started(server)
    } catch {
      throw CommandFailure(subject: "\(listen)", "\(error)", next: "name another address after --listen")
    }
    let announcer = announce(server)
    if arguments.has(.pair) { try PairingText.show(openPairing(server)) }
    await end.value()
    withExtendedLifetime(control) {}
    announcer?.stop()
    reader?.stop()
    await server.end()
    await log.end()
    return .done
  }

  // MARK: - What the options say

  /// A port alone is of all addresses.
  private func listenAddress() throws(CommandFailure) -> HostPort {
    if let port = arguments.text(.listen).flatMap({ UInt16($0) }) { return HostPort(host: "::", port: port) }
    return try arguments.hostPort(.listen)
  }

  private func feed() throws(CommandFailure) -> (FeedDescription, RawReader?) {
    let text: FeedText
    do throws(FeedTextError) {
      text = try FeedText(
        arguments.text(.feed) ?? "pattern", size: arguments.givenText(.feedSize), rate: arguments.givenText(.feedRate))
    } catch {
      throw CommandFailure(subject: "--feed", error.what, next: error.nextStep)
    }
    switch text {
    case .pattern: return (.pattern, nil)
    case .file(let path): return (.file(path: path), nil)
    case .raw(let format):
      let reader = RawReader(format, from: STDIN_FILENO, name: "standard input", timekeeper: timekeeper)
      reader.start()
      return (.live(reader.feed), reader)
    }
  }

  private func openHome() throws(CommandFailure) -> GlassesHome {
    do throws(GlassesHomeError) {
      return try GlassesHome(StateFolder.glasses(arguments), name: arguments.givenText(.name))
    } catch {
      throw CommandFailure(subject: "glasses", "\(error)")
    }
  }

  private func makeAgent(_ home: GlassesHome, _ feed: FeedDescription) -> GlassesAgent {
    let agent = GlassesAgent(
      identity: GlassesIdentity(
        identifier: home.me.identifier.text, name: home.me.name, model: arguments.text(.model) ?? "",
        softwareVersion: GlasswingProgram.version),
      timekeeper: timekeeper, permissions: HostsPermissions(),
      configuration: GlassesAgent.Configuration(foldEffect: .endsSession))
    agent.camera.setFeed(feed)
    agent.camera.setBitrate(arguments.bitrate(.bitrate))
    agent.hardware.powerOn()
    agent.hardware.unfold()
    agent.hardware.don()
    return agent
  }

  /// Where others can reach them at all.
  private func announce(_ server: GlassesServer) -> ServiceAnnouncer? {
    guard let address = server.addresses.first(where: { !$0.isLoopback }) else { return nil }
    return ServiceAnnouncer(
      name: server.agent.identity.name, identifier: server.home.me.identifier, port: address.port
    ) { _ in }
  }

  private func openPairing(_ server: GlassesServer) throws(CommandFailure) -> String {
    do {
      return try server.openPairing().revealed()
    } catch {
      throw CommandFailure(subject: "--pair", "\(error)")
    }
  }
}

/// Apps come with a certificate of a paired host, which answers for them.
private final class HostsPermissions: AgentPermissions {
  func allowsCamera(app: String) -> Bool { true }
  func allowsMicrophone(app: String) -> Bool { true }
}

/// Where the programs of this user keep their state.
enum StateFolder {
  /// `--state-dir`, systemd's `STATE_DIRECTORY` (systemd.exec), or the user's own.
  static func glasses(_ arguments: Arguments) -> String {
    if let folder = arguments.givenText(.stateDir) { return folder }
    if let folder = UserState.value("STATE_DIRECTORY")?.split(separator: ":").first { return String(folder) }
    return UserState.folder("glasses")
  }
}

/// What pairs, on standard output: a line of its own, and where a person looks, a QR code before it.
enum PairingText {
  static func show(_ uri: String) throws(CommandFailure) {
    if isatty(STDOUT_FILENO) == 1, let lines = QRCode.lines(uri), (lines.first?.count ?? 0) <= Terminal.columns + 16 {
      try Console.shared.result(lines.joined(separator: "\n") + "\n")
    }
    try Console.shared.result(uri + "\n")
  }
}
