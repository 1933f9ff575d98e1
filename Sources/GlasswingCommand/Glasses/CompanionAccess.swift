import Companion
import LinkProtocol
import LinkTransport
import MWDATCore
import Synchronization
import Units

/// The companion of this user for as long as the command runs: the one that is there, or one of the command's own, which
/// other commands then use as well.
final class CompanionAccess: Sendable {
  static let shared = CompanionAccess()

  private struct State {
    var service: CompanionService?
    var failure: CompanionError?
    var browser: GlassesFinder?
  }

  let folder = CompanionFolder.present()
  private let state = Mutex(State())

  /// Makes `Wearables.shared` the interface to real glasses. Once.
  func configure() throws(CommandFailure) {
    Wearables.setCompanionDial { [self] in dial() }
    do throws(WearablesError) {
      try Wearables.configure()
    } catch {
      if error == .alreadyConfigured { return }
      let text = Wearables.infoPlistProblems.map(\.text).joined(separator: ", ")
      throw CommandFailure(subject: "Info.plist", text.isEmpty ? error.localizedDescription : text)
    }
  }

  /// The environment behind `Wearables.shared`, its companion there.
  func environment() async throws(CommandFailure) -> CompanionEnvironment {
    try configure()
    guard let environment = Wearables.sharedIfConfigured?.environment as? CompanionEnvironment,
      await environment.client.joined(within: .seconds(3))
    else { throw failure }
    return environment
  }

  /// The companion is the command's own.
  var isServing: Bool { state.withLock { $0.service != nil } }

  /// Says goodbye to whoever the command's own companion serves.
  func end() { state.withLock { $0.service.take() }?.end() }

  private var failure: CommandFailure {
    if let failure = state.withLock({ $0.failure }) {
      return CommandFailure(subject: "companion", "\(failure)", next: "see glasswing doctor")
    }
    return CommandFailure(
      subject: "companion", "it does not answer at \(folder.socket)", next: "end the process that has it open")
  }

  /// Called again whenever there is no companion: then this command may have to take over.
  private func dial() -> (any ByteTransport)? {
    bringAlong()
    return UnixTransport(to: folder.socket)
  }

  private func bringAlong() {
    let isHere = state.withLock { $0.service != nil }
    guard !isHere else { return }
    do throws(CompanionError) {
      let service = try CompanionService(folder)
      if let warning = service.companion.warning { Console.shared.log(warning) }
      let finder = GlassesFinder(service.companion)
      state.withLock { state in
        state.service = service
        state.browser = finder
        state.failure = nil
      }
    } catch {
      state.withLock { $0.failure = error == .alreadyRunning ? nil : error }
    }
  }
}
