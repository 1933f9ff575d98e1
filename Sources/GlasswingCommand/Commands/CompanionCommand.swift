import Companion
import LinkProtocol
import LinkTransport

/// `glasswing companion`: serves this user's programs until it is signalled.
struct CompanionCommand {
  let arguments: Arguments

  init(_ arguments: Arguments) { self.arguments = arguments }

  func run() async throws(CommandFailure) -> ExitStatus {
    let folder = CompanionFolder.present()
    let end = ResumeOnce<Void>()
    Interruption.shared.whenRaised { _ in end.resume(with: ()) }
    let service: CompanionService
    do throws(CompanionError) {
      service = try CompanionService(folder)
    } catch {
      throw CommandFailure(
        subject: "companion", "\(error)", next: error == .alreadyRunning ? "nothing has to be done" : nil)
    }
    if let warning = service.companion.warning { Console.shared.log(warning) }
    let finder = GlassesFinder(service.companion)
    if !arguments.has(.quiet) {
      Console.shared.log(
        "companion of \(service.companion.host.name) at \(ShownPath.shorten(folder.socket)); Ctrl-C ends it")
    }
    await end.value()
    withExtendedLifetime(finder) {}
    service.end()
    return .done
  }
}
