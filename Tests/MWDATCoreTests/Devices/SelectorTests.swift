import Foundation
import LinkProtocol
import LinkTransport
import MWDATCore
import Synchronization
import TestSupport
import Testing

@Suite("Selectors", .timeLimit(.minutes(5)))
struct SelectorTests {
  let timekeeper: ManualTimekeeper
  let environment: FakeEnvironment
  let wearables: SharedWearables

  init() {
    timekeeper = ManualTimekeeper()
    environment = FakeEnvironment(timekeeper, devices: [.glasses("A"), .glasses("B")])
    wearables = SharedWearables(environment: environment)
  }

  @Test("A specific selector names its device, connected or not, once, and ends")
  func specific() async {
    let selector = SpecificDeviceSelector(device: "Z")
    #expect(selector.activeDevice == "Z")
    var seen: [DeviceIdentifier?] = []
    for await device in selector.activeDeviceStream() { seen.append(device) }
    #expect(seen == ["Z"])
  }

  @Test("An automatic selector fills asynchronously: a session in the same breath finds no device")
  func fillsLater() {
    let selector = AutoDeviceSelector(wearables: wearables)
    #expect(selector.activeDevice == nil)
    #expect(throws: DeviceSessionError.noEligibleDevice) {
      try wearables.createSession(deviceSelector: selector)
    }
    timekeeper.settle()
    #expect(selector.activeDevice == "A")
  }

  @Test("Its stream yields the current value first, nil included, then each change")
  func stream() async {
    let selector = AutoDeviceSelector(wearables: wearables)
    var iterator = selector.activeDeviceStream().makeAsyncIterator()
    timekeeper.settle()
    environment.change("A") { $0.state.linkState = .disconnected }
    timekeeper.settle()
    environment.change("A") { $0.state.batteryLevel = 5 }
    environment.setDevices([])
    timekeeper.settle()
    #expect(await iterator.next() == .some(nil))
    #expect(await iterator.next() == .some("A"))
    #expect(await iterator.next() == .some("B"))
    #expect(await iterator.next() == .some(nil))
    var late = selector.activeDeviceStream().makeAsyncIterator()
    #expect(await late.next() == .some(nil))
  }

  @Test("Readers that are cancelled while the choice changes end, and so does the change (LIFE-1)")
  func cancelledReaders() async {
    let selector = AutoDeviceSelector(wearables: wearables)
    for round in 0..<20 {
      let readers = (0..<200).map { _ in
        Task.detached { for await _ in selector.activeDeviceStream() {} }
      }
      // Most of them wait for the next change then.
      for _ in 0..<20 { await Task.yield() }
      environment.setDevices(round.isMultiple(of: 2) ? [] : [.glasses("A")])
      let cancelling = Task.detached { for reader in readers { reader.cancel() } }
      timekeeper.settle()
      await cancelling.value
      for reader in readers { await reader.value }
    }
  }

  @Test("Only connected and compatible devices qualify; with none there is no fallback (Q4)")
  func eligibility() {
    environment.setDevices([
      .glasses("off", linkState: .disconnected, compatibility: .undefined),
      .glasses("connecting", linkState: .connecting),
      .glasses("old", compatibility: .deviceUpdateRequired),
      .glasses("unknown", compatibility: .undefined),
    ])
    let selector = AutoDeviceSelector(wearables: wearables)
    timekeeper.settle()
    #expect(selector.activeDevice == nil)
    environment.change("connecting") { $0.state.linkState = .connected }
    timekeeper.settle()
    #expect(selector.activeDevice == "connecting")
  }

  @Test("A selected device stays selected while it qualifies")
  func sticky() {
    let selector = AutoDeviceSelector(wearables: wearables)
    timekeeper.settle()
    environment.change("A") { $0.state.linkState = .disconnected }
    timekeeper.settle()
    #expect(selector.activeDevice == "B")
    environment.change("A") { $0.state.linkState = .connected }
    timekeeper.settle()
    #expect(selector.activeDevice == "B")
  }

  @Test("The filter chooses among them, and is asked again when anything changes, the name included")
  func filter() {
    let selector = AutoDeviceSelector(wearables: wearables) { $0.name == "Mine" && $0.batteryLevel ?? 0 > 10 }
    timekeeper.settle()
    #expect(selector.activeDevice == nil)
    environment.change("B") { $0.name = "Mine" }
    timekeeper.settle()
    #expect(selector.activeDevice == nil)
    environment.change("B") { $0.state.batteryLevel = 50 }
    timekeeper.settle()
    #expect(selector.activeDevice == "B")
    environment.change("B") { $0.name = "Yours" }
    timekeeper.settle()
    #expect(selector.activeDevice == nil)
  }

  @Test("A change while the filter is asked makes it be asked again")
  func overtakenFilter() async throws {
    let environment = FakeEnvironment(SystemTimekeeper(), devices: [.glasses("A", name: "Mine")])
    let wearables = SharedWearables(environment: environment)
    let gate = Gate()
    let asked = Observed<String>()
    let selector = AutoDeviceSelector(wearables: wearables) { device in
      let name = device.name
      asked.record(name)
      gate.wait()
      return name == "Mine"
    }
    try await asked.wait { !$0.isEmpty }
    let changes = Observed<Void>()
    let token = wearables.deviceForIdentifier("A")?.addChangeListener { changes.record(()) }
    environment.change("A") { $0.name = "Yours" }
    // The selector listens for longer, so it has heard of the change when this listener has.
    try await changes.wait { $0.count == 2 }
    gate.open()
    try await asked.wait { $0.last == "Yours" }
    #expect(selector.activeDevice == nil)
    withExtendedLifetime(token) {}
  }

  @Test("A released selector listens no more; a stream keeps it alive")
  func lifetime() async {
    weak var released: AutoDeviceSelector?
    var stream: AnyAsyncSequence<DeviceIdentifier?>?
    do {
      let selector = AutoDeviceSelector(wearables: wearables)
      released = selector
      stream = selector.activeDeviceStream()
    }
    #expect(released != nil)
    var iterator = stream?.makeAsyncIterator()
    timekeeper.settle()
    #expect(await iterator?.next() == .some(nil))
    #expect(await iterator?.next() == .some("A"))
    iterator = nil
    stream = nil
    #expect(released == nil)
  }

  @Test("It works over somebody else's implementation of the interface")
  func foreign() {
    let selector = AutoDeviceSelector(wearables: Forwarding(inner: wearables))
    timekeeper.settle()
    #expect(selector.activeDevice == "A")
  }
}

/// What an app's own test double may look like: a conformer that leaves the defaults to the interface.
struct Forwarding: WearablesInterface {
  let inner: any WearablesInterface

  var registrationState: RegistrationState { inner.registrationState }
  func addRegistrationStateListener(
    _ listener: @escaping @Sendable (RegistrationState) -> Void
  ) -> any AnyListenerToken { inner.addRegistrationStateListener(listener) }
  func startRegistration() async throws(RegistrationError) { try await inner.startRegistration() }
  func handleUrl(_ url: URL) async throws(WearablesHandleURLError) -> Bool { try await inner.handleUrl(url) }
  func startUnregistration() async throws(UnregistrationError) { try await inner.startUnregistration() }
  func openFirmwareUpdate() async throws(NavigationError) { try await inner.openFirmwareUpdate() }
  func openDATGlassesAppUpdate() async throws(NavigationError) { try await inner.openDATGlassesAppUpdate() }
  var devices: [DeviceIdentifier] { inner.devices }
  func addDevicesListener(_ listener: @escaping @Sendable ([DeviceIdentifier]) -> Void) -> any AnyListenerToken {
    inner.addDevicesListener(listener)
  }
  func deviceForIdentifier(_ identifier: DeviceIdentifier) -> Device? { inner.deviceForIdentifier(identifier) }
  func checkPermissionStatus(_ permission: Permission) async throws(PermissionError) -> PermissionStatus {
    try await inner.checkPermissionStatus(permission)
  }
  func requestPermission(_ permission: Permission) async throws(PermissionError) -> PermissionStatus {
    try await inner.requestPermission(permission)
  }
  func createSession(deviceSelector: any DeviceSelector) throws(DeviceSessionError) -> DeviceSession {
    try inner.createSession(deviceSelector: deviceSelector)
  }
}
