import Glibc

/// The entry point: words to an invocation, an invocation to an exit code. The main thread takes signals; the command
/// runs as a task.
@main
enum GlasswingProgram {
  static let version = "0.1.0"

  static func main() {
    Interruption.block()
    let words = Array(CommandLine.arguments.dropFirst())
    // Detached: the main actor's thread is the one that waits for signals.
    Task.detached {
      let status = await run(words)
      CompanionAccess.shared.end()
      Terminal.restore()
      exit(status.rawValue)
    }
    Interruption.shared.serve()
  }

  static func run(_ words: [String]) async -> ExitStatus {
    do {
      return switch try ArgumentParser.parse(words) {
      case .help(let command): try write(command.map(HelpText.command) ?? HelpText.program())
      case .run(let arguments): try await run(arguments)
      }
    } catch {
      Console.shared.endProgress()
      Console.shared.log(ShownPath.shorten(error.line))
      return error.status
    }
  }

  private static func run(_ arguments: Arguments) async throws(CommandFailure) -> ExitStatus {
    switch arguments.command {
    case .record: try await RecordCommand(arguments).run()
    case .stream: try await StreamCommand(arguments).run()
    case .photo: try await PhotoCommand(arguments).run()
    case .demo: try await DemoCommand(arguments).run()
    case .pair, .unpair: try await PairCommand(arguments).run()
    case .devices: try await DevicesCommand(arguments).run()
    case .glasses: try await GlassesCommand(arguments).run()
    case .glassesCtl: try await GlassesControlCommand(arguments).run()
    case .companion: try await CompanionCommand(arguments).run()
    case .bench: try await BenchCommand(arguments).run()
    case .relay: try await RelayCommand(arguments).run()
    case .doctor: try await DoctorCommand(arguments).run()
    case .completions: try completions(arguments)
    case .help: try help(arguments)
    case .version: try versionText(arguments)
    }
  }

  private static func completions(_ arguments: Arguments) throws(CommandFailure) -> ExitStatus {
    guard let shell = arguments.operand.flatMap(Completions.Shell.init) else { return .couldNotStart }
    return try write(Completions.script(for: shell))
  }

  private static func help(_ arguments: Arguments) throws(CommandFailure) -> ExitStatus {
    if arguments.has(.man) { return try write(ManPage.page(version: version)) }
    let command = arguments.operand.flatMap(Command.init)
    return try write(command.map(HelpText.command) ?? HelpText.program())
  }

  private static func versionText(_ arguments: Arguments) throws(CommandFailure) -> ExitStatus {
    try write(arguments.has(.json) ? "{\"version\":\"\(version)\"}\n" : "\(OptionTable.program) \(version)\n")
  }

  private static func write(_ text: String) throws(CommandFailure) -> ExitStatus {
    try Console.shared.result(text)
    return .done
  }
}
