import Foundation
import LinkTransport
import Synchronization

/// The entry to the interface: configure it once, then use `shared`.
public enum Wearables {
  private struct State {
    var shared: SharedWearables?
    var information: AppInformation?
    var problems: [ConfigurationProblem] = []
    var dial: @Sendable () -> (any ByteTransport)? = CompanionEnvironment.dialer()
  }

  private static let state = Mutex(State())

  /// Reads the app's Info.plist and makes `shared` ready. Call it once, before touching `shared`; enabling the mock
  /// device kit does it too.
  ///
  /// Throws the first thing that is wrong with Info.plist (one log record names all), or `alreadyConfigured`. On Linux
  /// a program without an Info.plist is configured in developer mode.
  public static func configure() throws(WearablesError) {
    guard state.withLock({ $0.shared == nil }) else { throw .alreadyConfigured }
    let (information, problems) = InfoPlist.read()
    state.withLock { $0.problems = problems }
    if let first = problems.first {
      Log.warning("Wearables.configure: " + problems.map(\.text).joined(separator: "; "))
      throw first.error
    }
    let dial: (@Sendable () -> (any ByteTransport)?)? = state.withLock { state in
      guard state.shared == nil else { return nil }
      // First, since the environment tells it to the companion.
      state.information = information
      return state.dial
    }
    guard let dial else { throw .alreadyConfigured }
    let shared = SharedWearables(environment: CompanionEnvironment(dial: dial))
    let isFirst = state.withLock { state in
      guard state.shared == nil else { return false }
      state.shared = shared
      return true
    }
    guard isFirst else { throw .alreadyConfigured }
  }

  /// The interface to the glasses. The same object for the life of the process.
  ///
  /// Using it before `configure()` is a programming error and ends the process.
  public static var shared: any WearablesInterface {
    guard let shared = state.withLock({ $0.shared }) else {
      fatalError(
        "Wearables.shared was used before Wearables.configure(). Call `try Wearables.configure()` once when the app "
          + "starts, or MockDeviceKit.shared.enable() in a test.")
    }
    return shared
  }
}

extension Wearables {
  /// What is wrong with the app's configuration, as found by the last `configure()`.
  package static var infoPlistProblems: [ConfigurationProblem] { state.withLock { $0.problems } }

  /// What the app says of itself; nil when the mock was enabled without `configure()`.
  package static var appInformation: AppInformation? { state.withLock { $0.information } }

  /// How the companion is reached, from now on: for programs that bring one along. Before `configure()`.
  package static func setCompanionDial(_ dial: @escaping @Sendable () -> (any ByteTransport)?) {
    state.withLock { $0.dial = dial }
  }

  /// The object behind `shared`; nil when not configured.
  package static var sharedIfConfigured: SharedWearables? { state.withLock { $0.shared } }

  /// Puts an environment behind `shared`, configuring it if that was not done. Listeners stay subscribed and hear what
  /// differs.
  package static func install(_ environment: any WearablesEnvironment) {
    if let present = sharedIfConfigured { return present.use(environment) }
    // Made with no lock held: it asks the environment.
    let new = SharedWearables(environment: environment)
    let other = state.withLock { state in
      defer { state.shared = state.shared ?? new }
      return state.shared
    }
    other?.use(environment)
  }

  /// Puts the environment of a process without mock back, if this one is in place. The environment ends its own links.
  package static func uninstall(_ environment: any WearablesEnvironment) {
    // A program that was never configured, as a test, does not look for real glasses afterwards.
    let dial = state.withLock { $0.information == nil ? nil : $0.dial }
    sharedIfConfigured?.use(CompanionEnvironment(dial: dial), insteadOf: environment)
  }
}
