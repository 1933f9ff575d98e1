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
  private let environment = Mutex<MockEnvironment?>(nil)

  private init() { store.reset(allGranted: true) }

  package var isEnabled: Bool { environment.withLock { $0 != nil } }

  package var permissions: any MockPermissions { store }

  package func enable(config: MockDeviceKitConfig) { enable(config: config, options: Options()) }

  package func enable(config: MockDeviceKitConfig, options: Options) {
    store.reset(allGranted: config.initialPermissionsGranted)
    let new = MockEnvironment(options: options, isRegistered: config.initiallyRegistered, permissions: store)
    let old = environment.withLock { current in
      defer { current = new }
      return current
    }
    // Straight from one world to the next: whoever listens hears what differs, not an empty world in between.
    Wearables.install(new)
    old?.unpairAll {}
  }

  package func disable() { takeEnvironment()?.unpairAll {} }

  package func disable() async {
    guard let old = takeEnvironment() else { return }
    let gate = ResumeOnce<Void>()
    await withCheckedContinuation { continuation in
      gate.store(continuation)
      old.unpairAll { gate.resume(with: ()) }
    }
  }

  package func pairGlasses(model: GlassesModel) throws(MockDeviceKitError) -> any MockGlasses {
    try pairGlasses(model: model, deviceClock: .identity)
  }

  /// - Parameter deviceClock: the glasses' clock as a function of the kit's.
  package func pairGlasses(model: GlassesModel, deviceClock: DeviceClock) throws(MockDeviceKitError) -> SimulatedGlasses
  {
    let environment = environment.withLock { $0 }
    guard let glasses = environment?.pair(model: model, deviceClock: deviceClock) else { throw .notEnabled }
    return glasses
  }

  package func unpairDevice(_ device: any MockDevice) {
    environment.withLock { $0 }?.unpair(device.deviceIdentifier) {}
  }

  package func unpairDevice(_ device: any MockDevice) async {
    guard let environment = environment.withLock({ $0 }) else { return }
    let gate = ResumeOnce<Void>()
    await withCheckedContinuation { continuation in
      gate.store(continuation)
      environment.unpair(device.deviceIdentifier) { gate.resume(with: ()) }
    }
  }

  package var pairedDevices: [any MockDevice] { environment.withLock { $0 }?.paired ?? [] }

  package func startTestServer(portFilePath: String?) async throws -> UInt16 {
    throw MockDeviceKitError.testServerUnavailable
  }

  package func stopTestServer() async {}

  private func takeEnvironment() -> MockEnvironment? {
    let old = environment.withLock { current in
      defer { current = nil }
      return current
    }
    if let old { Wearables.uninstall(old) }
    return old
  }
}
