import LinkProtocol
import LinkTransport

/// `glasswing doctor`: all checks, in the order in which a failure explains the next.
struct DoctorCommand {
  private let arguments: Arguments
  private let timekeeper: any Timekeeper

  init(_ arguments: Arguments, timekeeper: any Timekeeper = SystemTimekeeper.shared) {
    self.arguments = arguments
    self.timekeeper = timekeeper
  }

  func run() async throws(CommandFailure) -> ExitStatus {
    let paired = await GlassesChecks.paired()
    var checks = MediaChecks.libraries() + MediaChecks.codecs(timekeeper: timekeeper)
    checks.append(await SystemChecks.clock(timekeeper: timekeeper))
    checks.append(SystemChecks.congestionControl())
    checks.append(SystemChecks.discovery())
    checks.append(SystemChecks.ffmpeg())
    checks.append(await GlassesChecks.simulation())
    checks += paired
    let report = DoctorReport(version: GlasswingProgram.version, checks: checks)
    try Console.shared.result(arguments.has(.json) ? JSONResult.text(report) : report.text)
    return report.ok ? .done : .couldNotStart
  }
}
