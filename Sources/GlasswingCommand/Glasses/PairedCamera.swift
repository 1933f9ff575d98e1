import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import Synchronization
import Units

extension OpenCamera {
  /// How long paired glasses may take to be connected after the command has begun.
  private static let patience: Duration = .seconds(8)

  /// Opens the camera of paired glasses: those after `--device`, or the only ones that are connected.
  static func openPaired(
    _ arguments: Arguments, _ configuration: StreamConfiguration
  ) async throws(CommandFailure) -> OpenCamera {
    let environment = try await CompanionAccess.shared.environment()
    let identifier = try await device(arguments.givenText(.device), environment)
    let error = LastError()
    do {
      let session = try Wearables.shared.createSession(deviceSelector: SpecificDeviceSelector(device: identifier))
      let token = session.errorPublisher.listen { error.set($0.localizedDescription) }
      let camera = try await begin(session, configuration)
      withExtendedLifetime(token) {}
      guard let camera else {
        throw CommandFailure(
          subject: identifier, error.text ?? "the session ended before it began", next: "see glasswing devices")
      }
      return OpenCamera(session: session, camera: camera)
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure(subject: identifier, error.localizedDescription, next: "see glasswing devices")
    }
  }

  private final class LastError: Sendable {
    private let state = Mutex<String?>(nil)
    var text: String? { state.withLock { $0 } }
    func set(_ text: String) { state.withLock { $0 = text } }
  }

  private enum Choice: Sendable {
    case found(String)
    case interrupted
    case timeout
  }

  private static func device(
    _ asked: String?, _ environment: CompanionEnvironment
  ) async throws(CommandFailure) -> String {
    let listings = environment.client.listings
    guard !listings.isEmpty else {
      throw CommandFailure(
        subject: "glasses", "none are paired", next: "pair some with glasswing pair, or add --simulate")
    }
    if let asked, !listings.contains(where: { $0.isCalled(asked) }) {
      throw CommandFailure(
        subject: asked, "no such glasses are paired",
        next: "name one of \(listings.map(\.identifier).joined(separator: ", "))")
    }
    let choice = ResumeOnce<Choice>()
    let token = Wearables.shared.addDevicesListener { _ in }
    let tokens = ListenerTokenBag()
    // Each device tells of itself; the one that is connected first is taken.
    for listing in listings where asked.map(listing.isCalled) ?? true {
      guard let device = Wearables.shared.deviceForIdentifier(listing.identifier) else { continue }
      device.addDeviceStateListener { [identifier = listing.identifier] state in
        if state.linkState == .connected { choice.resume(with: .found(identifier)) }
      }.store(in: tokens)
    }
    Interruption.shared.whenRaised { _ in choice.resume(with: .interrupted) }
    let decision = await choice.value(within: patience, on: environment.timekeeper, else: .timeout)
    withExtendedLifetime((token, tokens)) {}
    switch decision {
    case .found(let identifier): return identifier
    case .interrupted: throw CommandFailure(.cutOff, subject: "glasses", "interrupted before they were connected")
    case .timeout: throw absent(asked, environment.client.listings)
    }
  }

  private static func absent(_ asked: String?, _ listings: [GlassesListing]) -> CommandFailure {
    let wanted = listings.filter { listing in asked.map(listing.isCalled) ?? true }
    guard let one = wanted.first, wanted.count == 1 else {
      return CommandFailure(
        subject: "glasses", "none of the \(listings.count) paired ones is connected", next: "see glasswing devices")
    }
    let (words, next) =
      switch one.presence {
      case .away, .connecting, .connected:
        (
          "not connected: last at \(one.addresses.first ?? "no address"), port \(one.port)",
          "are they on, and on this network?"
        )
      case .unpaired: ("don't trust this host any more", "pair them again")
      case .incompatible: ("speak another version of the protocol", "update the older side")
      }
    return CommandFailure(subject: one.name, words, next: next)
  }
}

extension GlassesListing {
  /// By identifier, or by name in either case.
  func isCalled(_ text: String) -> Bool { identifier == text || name.lowercased() == text.lowercased() }
}
