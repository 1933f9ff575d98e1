import Foundation
import LinkProtocol
import MWDATCore
import TestSupport
import Testing

@Suite("Devices", .timeLimit(.minutes(5)))
struct DeviceTests {
  let timekeeper: ManualTimekeeper
  let environment: FakeEnvironment
  let wearables: SharedWearables

  init() {
    timekeeper = ManualTimekeeper()
    environment = FakeEnvironment(timekeeper, devices: [.glasses("A", name: "Anna's")])
    wearables = SharedWearables(environment: environment)
  }

  func device() throws -> Device { try #require(wearables.deviceForIdentifier("A")) }

  @Test("A device reads live, and its name falls back to the identifier")
  func live() throws {
    let device = try device()
    #expect(device.nameOrId() == "Anna's")
    #expect(device.linkState == .connected)
    #expect(device.batteryLevel == nil)
    environment.change("A") {
      $0.name = ""
      $0.state.batteryLevel = 40
      $0.state.chargingState = .charging
      $0.state.donState = .donned
      $0.state.hingeState = .open
      $0.state.thermalLevel = .light
    }
    #expect(device.name.isEmpty)
    #expect(device.nameOrId() == "A")
    #expect(device.batteryLevel == 40)
    #expect(device.chargingState == .charging)
    #expect(device.donState == .donned)
    #expect(device.hingeState == .open)
    #expect(device.thermalLevel == .light)
    #expect(device.deviceType() == .rayBanMeta)
    #expect(!device.supportsDisplay())
  }

  @Test("What is read is the present, though the environment has not told its news yet")
  func present() throws {
    let device = try device()
    let levels = Observed<Int?>()
    let token = device.addDeviceStateListener { levels.record($0.batteryLevel) }
    timekeeper.settle()
    var changed = environment.devices
    changed[0].state.batteryLevel = 7
    environment.setDevices(changed + [.glasses("B")], telling: false)
    #expect(device.batteryLevel == 7)
    #expect(wearables.devices == ["A", "B"])
    environment.tell()
    timekeeper.settle()
    #expect(levels.values == [nil, 7])
    withExtendedLifetime(token) {}
  }

  @Test("A state listener hears the current state at once and every change after it (LIFE-6)")
  func stateListener() throws {
    let device = try device()
    let levels = Observed<Int?>()
    let token = device.addDeviceStateListener { levels.record($0.batteryLevel) }
    timekeeper.settle()
    #expect(levels.values == [nil])
    for level in [50, 49, 48] { environment.change("A") { $0.state.batteryLevel = level } }
    timekeeper.settle()
    #expect(levels.values == [nil, 50, 49, 48])
    withExtendedLifetime(token) {}
  }

  @Test("Link and compatibility listeners hear changes only (Q2)")
  func changeOnly() throws {
    let device = try device()
    let links = Observed<LinkState>()
    let compatibilities = Observed<Compatibility>()
    let a = device.addLinkStateListener { links.record($0) }
    let b = device.addCompatibilityListener { compatibilities.record($0) }
    timekeeper.settle()
    environment.change("A") { $0.state.batteryLevel = 1 }
    environment.change("A") { $0.state.linkState = .disconnected }
    environment.change("A") { $0.state.compatibility = .undefined }
    environment.change("A") { $0.state.linkState = .connected }
    timekeeper.settle()
    #expect(links.values == [.disconnected, .connected])
    #expect(compatibilities.values == [.undefined])
    withExtendedLifetime((a, b)) {}
  }

  @Test("The property has the new value when its listener hears of it")
  func propertyFirst() throws {
    let device = try device()
    let seen = Observed<Bool>()
    let token = device.addLinkStateListener { [weak device] in seen.record(device?.linkState == $0) }
    environment.change("A") { $0.state.linkState = .connecting }
    timekeeper.settle()
    #expect(seen.values == [true])
    withExtendedLifetime(token) {}
  }

  @Test("One identifier is one object while anybody holds it, also when it leaves the list and comes back")
  func identity() throws {
    let device = try device()
    let links = Observed<LinkState>()
    let token = device.addLinkStateListener { links.record($0) }
    let listed = environment.devices
    environment.setDevices([])
    #expect(wearables.deviceForIdentifier("A") == nil)
    #expect(device.linkState == .disconnected)
    #expect(device.compatibility() == .undefined)
    #expect(device.name == "Anna's")
    environment.setDevices(listed)
    #expect(wearables.deviceForIdentifier("A") === device)
    timekeeper.settle()
    #expect(links.values == [.disconnected, .connected])
    withExtendedLifetime(token) {}
  }

  @Test("A listener goes on hearing when the device leaves the list and comes back, though nobody holds the device")
  func tokenKeepsDevice() throws {
    let links = Observed<LinkState>()
    var token: (any AnyListenerToken)? = try device().addLinkStateListener { links.record($0) }
    weak var released: Device?
    released = wearables.deviceForIdentifier("A")
    let listed = environment.devices
    environment.setDevices([])
    environment.setDevices(listed)
    timekeeper.settle()
    #expect(links.values == [.disconnected, .connected])
    environment.setDevices([])
    withExtendedLifetime(token) {}
    #expect(released != nil)
    token = nil
    #expect(released == nil)
  }

  @Test("Every model has its display answer")
  func display() {
    #expect(DeviceType.allCases.filter(\.supportsDisplay) == [.metaRayBanDisplay])
  }
}
