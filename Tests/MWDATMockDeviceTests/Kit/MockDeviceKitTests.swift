import Foundation
import LinkProtocol
import MWDATCore
import TestSupport
import Testing

@testable import MWDATMockDevice

@Suite("The mock device kit", .exclusive(.mockKit))
struct MockDeviceKitTests {
  private let kit = MockDeviceKit.shared

  /// A kit on a clock that stands still, so that everything is answered on the spot or when the test says so.
  private func enable(
    _ config: MockDeviceKitConfig = MockDeviceKitConfig(), seed: UInt64 = 1
  ) -> ManualTimekeeper {
    let timekeeper = ManualTimekeeper()
    MockKit.shared.enable(config: config, options: MockKit.Options(timekeeper: timekeeper, seed: seed))
    return timekeeper
  }

  /// Not `async`, so the form that returns at once; the links end within the time that passes then.
  private func finish(_ timekeeper: ManualTimekeeper) {
    kit.disable()
    timekeeper.advance(by: .seconds(2))
  }

  @Test("enabling configures Wearables with an app that is registered; disabling takes both back")
  func enableAndDisable() async throws {
    kit.enable()
    #expect(kit.isEnabled)
    #expect(throws: WearablesError.alreadyConfigured) { try Wearables.configure() }
    #expect(Wearables.shared.registrationState == .registered)
    await kit.disable()
    #expect(!kit.isEnabled)
    #expect(kit.pairedDevices.isEmpty)
    #expect(Wearables.shared.devices.isEmpty)
    #expect(throws: MockDeviceKitError.notEnabled) { try kit.pairGlasses(model: .rayBanMeta) }
    await kit.disable()
  }

  @Test("glasses of a kit that was replaced are not those of the next, though a seed gives the same identifiers")
  func sameIdentifiers() throws {
    let first = enable()
    let old = try kit.pairGlasses(model: .rayBanMeta)
    let second = enable()
    first.advance(by: .seconds(2))
    let new = try kit.pairGlasses(model: .rayBanMeta)
    #expect(new.deviceIdentifier == old.deviceIdentifier)
    kit.unpairDevice(old)
    #expect(kit.pairedDevices.count == 1)
    kit.unpairDevice(new)
    #expect(kit.pairedDevices.isEmpty)
    finish(second)
  }

  @Test("who unpairs or disables what somebody else is taking down waits for the last link all the same (LIFE-1)")
  func waitsForTheLastLink() async throws {
    for begin in [{ MockKit.shared.unpairDevice($0) }, { _ in MockKit.shared.disable() }]
      as [(SimulatedGlasses) -> Void]
    {
      let time = enable()
      let glasses = try MockKit.shared.pairGlasses(model: .rayBanMeta, deviceClock: .identity)
      glasses.powerOn()
      glasses.don()
      let session = try Wearables.shared.createSession(
        deviceSelector: SpecificDeviceSelector(device: glasses.deviceIdentifier))
      try session.start()
      time.advance(by: .milliseconds(100))
      #expect(glasses.agent.linkCount == 1)
      // The app hears no goodbye and answers none.
      glasses.link.hold(.toApp)
      glasses.link.hold(.toGlasses)
      begin(glasses)
      let linksAtTheEnd = Observed<Int>()
      let waiters = [
        Task.immediate {
          await MockKit.shared.unpairDevice(glasses)
          linksAtTheEnd.record(glasses.agent.linkCount)
        },
        Task.immediate {
          await MockKit.shared.disable()
          linksAtTheEnd.record(glasses.agent.linkCount)
        },
      ]
      time.advance(by: .seconds(2))
      for waiter in waiters { await waiter.value }
      #expect(linksAtTheEnd.values == [0, 0])
      session.stop()
      time.advance(by: .seconds(2))
    }
  }

  @Test("permissions are never granted at first to an app that is not registered")
  func configuration() {
    #expect(MockDeviceKitConfig().initialPermissionsGranted)
    #expect(!MockDeviceKitConfig(initiallyRegistered: false).initialPermissionsGranted)
    #expect(
      !MockDeviceKitConfig(initiallyRegistered: false, initialPermissionsGranted: true).initialPermissionsGranted)
  }

  @Test("glasses are listed once they were on with the hinge open, and stay listed until unpaired")
  func listing() throws {
    let time = enable()
    let glasses = try kit.pairGlasses(model: .rayBanMeta)
    let other = try kit.pairGlasses(model: .metaRayBanDisplay)
    func listed() -> [DeviceIdentifier] {
      time.settle()
      return Wearables.shared.devices
    }
    #expect(kit.pairedDevices.map(\.deviceIdentifier) == [glasses, other].map(\.deviceIdentifier))
    #expect(listed().isEmpty)
    glasses.powerOn()
    #expect(listed().isEmpty)
    glasses.unfold()
    #expect(listed() == [glasses.deviceIdentifier])
    other.powerOn()
    other.don()
    glasses.powerOff()
    #expect(listed() == [glasses.deviceIdentifier, other.deviceIdentifier])
    let device = try #require(Wearables.shared.deviceForIdentifier(glasses.deviceIdentifier))
    #expect(device.linkState == .disconnected)
    kit.unpairDevice(glasses)
    #expect(listed() == [other.deviceIdentifier])
    finish(time)
  }

  @Test("what is done to glasses shows on the device, and each of its listeners hears it")
  func deviceState() throws {
    let time = enable()
    let glasses = try kit.pairGlasses(model: .metaRayBanDisplay)
    glasses.powerOn()
    glasses.don()
    time.settle()
    let device = try #require(Wearables.shared.deviceForIdentifier(glasses.deviceIdentifier))
    let states = Observed<DeviceState>()
    let token = device.addDeviceStateListener { states.record($0) }
    time.settle()
    #expect(device.deviceType() == .metaRayBanDisplay)
    #expect(device.supportsDisplay())
    #expect(!device.name.isEmpty)
    #expect(device.compatibility() == .compatible)
    #expect(device.donState == .donned)
    #expect(device.hingeState == .open)

    glasses.setBatteryLevel(41)
    glasses.setChargingState(.charging)
    glasses.setThermalLevel(.moderate)
    glasses.doff()
    time.settle()
    #expect(device.batteryLevel == 41)
    #expect(device.chargingState == .charging)
    #expect(device.thermalLevel == .moderate)
    #expect(device.donState == .doffed)
    #expect(device.linkState == .connected)
    #expect(states.values.last?.batteryLevel == 41)
    glasses.fold()
    time.settle()
    #expect(device.hingeState == .closed)
    #expect(device.linkState == .connected)
    #expect(states.values.last?.hingeState == .closed)
    glasses.setBatteryLevel(nil)
    time.settle()
    #expect(device.batteryLevel == nil)
    withExtendedLifetime(token) {}
    finish(time)
  }

  @Test("registration comes by itself, in the steps that an app waits for")
  func registration() async throws {
    let time = enable(MockDeviceKitConfig(initiallyRegistered: false))
    let glasses = try kit.pairGlasses(model: .rayBanMeta)
    glasses.powerOn()
    glasses.don()
    time.settle()
    #expect(Wearables.shared.devices.isEmpty)
    let states = Observed<RegistrationState>()
    let token = Wearables.shared.addRegistrationStateListener { states.record($0) }
    await #expect(throws: UnregistrationError.alreadyUnregistered) {
      try await Wearables.shared.startUnregistration()
    }
    try await Wearables.shared.startRegistration()
    time.settle()
    #expect(states.values == [.unavailable, .registering, .registered])
    #expect(Wearables.shared.devices == [glasses.deviceIdentifier])
    await #expect(throws: RegistrationError.alreadyRegistered) { try await Wearables.shared.startRegistration() }
    try await Wearables.shared.startUnregistration()
    time.settle()
    #expect(states.values.last == .available)
    #expect(Wearables.shared.devices.isEmpty)
    await #expect(throws: NavigationError.notRegistered) { try await Wearables.shared.openFirmwareUpdate() }
    withExtendedLifetime(token) {}
    finish(time)
  }

  @Test("permissions are read from glasses: none listed and none connected are errors of their own")
  func permissions() async throws {
    let time = enable(MockDeviceKitConfig(initialPermissionsGranted: false))
    func check() async throws -> PermissionStatus { try await Wearables.shared.checkPermissionStatus(.camera) }
    await #expect(throws: PermissionError.noDevice) { try await check() }
    let glasses = try kit.pairGlasses(model: .rayBanMeta)
    glasses.powerOn()
    glasses.don()
    #expect(try await check() == .denied)
    #expect(try await Wearables.shared.requestPermission(.camera) == .granted)
    #expect(try await check() == .granted)
    kit.permissions.set(.camera, .denied)
    #expect(try await check() == .denied)
    glasses.powerOff()
    await #expect(throws: PermissionError.noDeviceWithConnection) { try await check() }
    finish(time)
  }

  @Test("enabling again starts over (MOCK-5)")
  func startsOver() async throws {
    let first = enable()
    let glasses = try kit.pairGlasses(model: .rayBanMeta)
    glasses.powerOn()
    glasses.don()
    kit.permissions.set(.camera, .denied)
    first.settle()
    let second = enable()
    first.advance(by: .seconds(2))
    second.settle()
    #expect(kit.pairedDevices.isEmpty)
    #expect(Wearables.shared.devices.isEmpty)
    let next = try kit.pairGlasses(model: .rayBanMeta)
    next.powerOn()
    next.don()
    #expect(try await Wearables.shared.checkPermissionStatus(.camera) == .granted)
    finish(second)
  }

  @Test("one seed gives the same glasses in every run, another seed others")
  func seeded() throws {
    func identifiers(_ seed: UInt64) throws -> [DeviceIdentifier] {
      let time = enable(seed: seed)
      let pairs = try [kit.pairGlasses(model: .rayBanMeta), kit.pairGlasses(model: .metaGlasses)]
      finish(time)
      return pairs.map(\.deviceIdentifier)
    }
    let first = try identifiers(1)
    #expect(Set(first).count == 2)
    #expect(try identifiers(1) == first)
    #expect(try identifiers(2) != first)
  }

  @Test("there is no test server, and that is said")
  func testServer() async {
    await #expect(throws: MockDeviceKitError.testServerUnavailable) { _ = try await kit.startTestServer() }
    await #expect(throws: MockDeviceKitError.testServerUnavailable) {
      _ = try await kit.startTestServer(port: 0, portFilePath: nil)
    }
    await kit.stopTestServer()
  }

  @Test("models carry the names under which they are sold")
  func models() {
    #expect(
      GlassesModel.allCases.map(\.rawValue) == [
        "Ray-Ban Meta", "Oakley Meta HSTN", "Oakley Meta Vanguard", "Ray-Ban Meta Optics", "Meta Glasses",
        "Meta Ray-Ban Display",
      ])
  }
}
