import LinkProtocol
import LinkTransport
import MWDATCore
import Synchronization
import Units

/// The kit of a process.
package final class MockKit: MockDeviceKitInterface {
  package static let shared = MockKit()

  /// What a test may choose beyond the interface.
  package struct Options: Sendable {
    /// What all runs on; a `ManualTimekeeper` makes every run the same.
    package var timekeeper: any Timekeeper
    /// Decides identifiers and nonces.
    package var seed: UInt64
    /// Whether streams replay units that this process has encoded once, so that simulated minutes cost no encoding.
    package var replaysCachedUnits: Bool
    /// Whether encoders write a hash of each picture, by which a decoder can prove that it has the picture.
    package var writesPictureHashes: Bool
    /// Of both ends of each link.
    package var limits: LinkLimits

    package init(
      timekeeper: any Timekeeper = SystemTimekeeper.shared, seed: UInt64 = 1, replaysCachedUnits: Bool? = nil,
      writesPictureHashes: Bool = false, limits: LinkLimits = LinkLimits()
    ) {
      self.timekeeper = timekeeper
      self.seed = seed
      self.replaysCachedUnits = replaysCachedUnits ?? (timekeeper is ManualTimekeeper)
      self.writesPictureHashes = writesPictureHashes
      self.limits = limits
    }
  }

  private let store = PermissionStore()
  private let worlds = Mutex(Worlds())

  private struct Worlds {
    var present: MockEnvironment?
    /// The one that was replaced or disabled last: it lives as long as links of it are being torn down.
    weak var last: MockEnvironment?
  }

  private init() { store.reset(allGranted: true) }

  package var isEnabled: Bool { environment != nil }

  package var permissions: any MockPermissions { store }

  package func enable(config: MockDeviceKitConfig) { enable(config: config, options: Options()) }

  package func enable(config: MockDeviceKitConfig, options: Options) {
    store.reset(allGranted: config.initialPermissionsGranted)
    let new = MockEnvironment(options: options, isRegistered: config.initiallyRegistered, permissions: store)
    let old = replaceEnvironment(by: new)
    // Straight from one world to the next: whoever listens hears what differs, not an empty world in between.
    Wearables.install(new)
    old?.unpairAll {}
  }

  package func disable() { takeEnvironment()?.unpairAll {} }

  package func disable() async {
    // Where somebody else has disabled it just now, that is waited for: what is promised is that no link is left.
    guard let environment = takeEnvironment() ?? worlds.withLock({ $0.last }) else { return }
    await Self.wait { environment.unpairAll(completion: $0) }
  }

  package func pairGlasses(model: GlassesModel) throws(MockDeviceKitError) -> any MockGlasses {
    try pairGlasses(model: model, deviceClock: .identity)
  }

  /// - Parameter deviceClock: the glasses' clock as a function of the kit's.
  package func pairGlasses(model: GlassesModel, deviceClock: DeviceClock) throws(MockDeviceKitError) -> SimulatedGlasses
  {
    guard let glasses = environment?.pair(model: model, deviceClock: deviceClock) else { throw .notEnabled }
    return glasses
  }

  package func unpairDevice(_ device: any MockDevice) { environment?.unpair(device) {} }

  package func unpairDevice(_ device: any MockDevice) async {
    for environment in worlds.withLock({ [$0.present, $0.last].compactMap { $0 } }) {
      await Self.wait { environment.unpair(device, completion: $0) }
    }
  }

  package var pairedDevices: [any MockDevice] { environment?.paired ?? [] }

  package func startTestServer(portFilePath: String?) async throws -> UInt16 {
    throw MockDeviceKitError.testServerUnavailable
  }

  package func stopTestServer() async {}

  private var environment: MockEnvironment? { worlds.withLock { $0.present } }

  /// The one before, which has to be ended.
  private func replaceEnvironment(by new: MockEnvironment?) -> MockEnvironment? {
    worlds.withLock { worlds in
      let old = worlds.present
      worlds.present = new
      if let old { worlds.last = old }
      return old
    }
  }

  private func takeEnvironment() -> MockEnvironment? {
    let old = replaceEnvironment(by: nil)
    if let old { Wearables.uninstall(old) }
    return old
  }

  private static func wait(for work: (@escaping @Sendable () -> Void) -> Void) async {
    let gate = ResumeOnce<Void>()
    await withCheckedContinuation { continuation in
      gate.store(continuation)
      work { gate.resume(with: ()) }
    }
  }
}
