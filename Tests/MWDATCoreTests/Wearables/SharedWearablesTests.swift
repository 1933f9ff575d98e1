import Foundation
import LinkProtocol
import MWDATCore
import TestSupport
import Testing

@Suite("The interface over an environment", .timeLimit(.minutes(5)))
struct SharedWearablesTests {
  let timekeeper: ManualTimekeeper
  let environment: FakeEnvironment
  let wearables: SharedWearables

  init() {
    timekeeper = ManualTimekeeper()
    environment = FakeEnvironment(timekeeper, registration: .available, devices: [.glasses("A")])
    wearables = SharedWearables(environment: environment)
  }

  // MARK: Registration

  @Test("Registration listeners hear the current state at once, then changes (LIFE-6)")
  func registrationListener() async throws {
    let states = Observed<RegistrationState>()
    let token = wearables.addRegistrationStateListener { states.record($0) }
    timekeeper.settle()
    #expect(states.values == [.available])
    try await wearables.startRegistration()
    #expect(wearables.registrationState == .registered)
    environment.setRegistration(.registered)
    timekeeper.settle()
    #expect(states.values == [.available, .registering, .registered])
    withExtendedLifetime(token) {}
  }

  @Test("Registration and device streams replay the current value (Q1)")
  func streams() async throws {
    var states = wearables.registrationStateStream().makeAsyncIterator()
    var lists = wearables.devicesStream().makeAsyncIterator()
    environment.setRegistration(.registered)
    environment.change("A") { $0.state.linkState = .disconnected }
    environment.setDevices([])
    timekeeper.settle()
    #expect(await states.next() == .available)
    #expect(await states.next() == .registered)
    #expect(await lists.next() == ["A"])
    #expect(await lists.next() == [])
  }

  @Test("Errors of the environment pass through, typed")
  func errors() async {
    await #expect(throws: UnregistrationError.alreadyUnregistered) { try await wearables.startUnregistration() }
    await #expect(throws: NavigationError.notRegistered) { try await wearables.openFirmwareUpdate() }
    await #expect(throws: NavigationError.notRegistered) { try await wearables.openDATGlassesAppUpdate() }
  }

  @Test("Only URLs with metaWearablesAction are handled; others answer false (PERM-1)")
  func urls() async throws {
    let foreign = try #require(URL(string: "myapp://open?page=1"))
    let ours = try #require(URL(string: "myapp://?metaWearablesAction=register&code=1"))
    #expect(try await wearables.handleUrl(foreign) == false)
    #expect(try await wearables.handleUrl(foreign) { _ in } == false)
    #expect(environment.handledURLs.isEmpty)
    #expect(try await wearables.handleUrl(ours))
    let requests = Observed<String>()
    #expect(try await wearables.handleUrl(ours) { requests.record($0.flowID) })
    #expect(requests.values == ["flow"])
    #expect(environment.handledURLs == [ours, ours])
  }

  @Test(
    "A URL that was cut or changed anywhere is answered, and handled only if it carries metaWearablesAction (PERM-1)")
  func damagedURLs() async throws {
    let ours = Array("my-app://host/path?code=1&metaWearablesAction=register&flow=%C3%A4#end".utf8)
    for damaged in DecoderVerifier.damaged(ours) {
      guard let url = URL(string: String(decoding: damaged, as: UTF8.self)) else { continue }
      guard try await wearables.handleUrl(url) else { continue }
      #expect(url.absoluteString.contains("metaWearablesAction"))
      #expect(environment.handledURLs.last == url)
    }
  }

  @Test("A conformer of somebody else's gets the callback form and both streams by default")
  func defaults() async throws {
    let foreign = Forwarding(inner: wearables)
    let ours = try #require(URL(string: "myapp://?metaWearablesAction=register"))
    #expect(try await foreign.handleUrl(ours) { _ in })
    var states = foreign.registrationStateStream().makeAsyncIterator()
    var lists = foreign.devicesStream().makeAsyncIterator()
    timekeeper.settle()
    #expect(await states.next() == .available)
    #expect(await lists.next() == ["A"])
  }

  // MARK: Permissions

  @Test("One permission request at a time (PERM-1)")
  func oneRequest() async throws {
    let asked = Observed<Void>()
    let answer = Observed<Void>()
    environment.answerPermission {
      asked.record(())
      try? await answer.wait { !$0.isEmpty }
      return .granted
    }
    let first = Task { try await wearables.requestPermission(.camera) }
    try await asked.wait { !$0.isEmpty }
    await #expect(throws: PermissionError.requestInProgress) {
      try await wearables.requestPermission(.microphone)
    }
    answer.record(())
    #expect(try await first.value == .granted)
    #expect(try await wearables.requestPermission(.camera) == .granted)
    environment.answerPermission(with: nil)
    await #expect(throws: PermissionError.noDevice) { try await wearables.requestPermission(.camera) }
    #expect(try await wearables.checkPermissionStatus(.camera) == .denied)
  }

  // MARK: Devices

  @Test("Device listeners hear the list at once and when it changes, not when a device does (LIFE-6)")
  func deviceListener() {
    let lists = Observed<[DeviceIdentifier]>()
    let token = wearables.addDevicesListener { lists.record($0) }
    environment.change("A") { $0.state.linkState = .disconnected }
    environment.setDevices([.glasses("A"), .glasses("B"), .glasses("A")])
    timekeeper.settle()
    #expect(lists.values == [["A"], ["A", "B"]])
    #expect(wearables.devices == ["A", "B"])
    withExtendedLifetime(token) {}
  }

  @Test("A list is told when its devices can be looked up already")
  func lookup() {
    let found = Observed<[Bool]>()
    let token = wearables.addDevicesListener { list in
      found.record(list.map { wearables.deviceForIdentifier($0) != nil })
    }
    environment.setDevices([.glasses("A"), .glasses("B")])
    timekeeper.settle()
    #expect(found.values == [[true], [true, true]])
    withExtendedLifetime(token) {}
  }

  // MARK: Another environment

  @Test("When the environment is replaced, listeners stay, move to its clock, and hear what differs")
  func replaced() {
    let lists = Observed<[DeviceIdentifier]>()
    let states = Observed<RegistrationState>()
    let a = wearables.addDevicesListener { lists.record($0) }
    let b = wearables.addRegistrationStateListener { states.record($0) }
    // What is queued on the old clock, which is never moved again, goes along.
    let otherTime = ManualTimekeeper()
    let other = FakeEnvironment(otherTime, registration: .registered, devices: [.glasses("N")])
    wearables.use(other)
    environment.setDevices([.glasses("Z")])
    environment.setRegistration(.registering)
    otherTime.settle()
    #expect(lists.values == [["A"], ["N"]])
    #expect(states.values == [.available, .registered])
    withExtendedLifetime((a, b)) {}
  }

  @Test("Replacing an environment that is not in place does nothing")
  func notInPlace() {
    let other = FakeEnvironment(timekeeper)
    wearables.use(CompanionEnvironment(timekeeper: timekeeper, dial: nil), insteadOf: other)
    #expect(wearables.devices == ["A"])
    wearables.use(other, insteadOf: environment)
    #expect(wearables.devices.isEmpty)
  }

  @Test("Devices of a replaced environment read disconnected")
  func devicesOfReplaced() throws {
    let device = try #require(wearables.deviceForIdentifier("A"))
    wearables.use(CompanionEnvironment(timekeeper: timekeeper, dial: nil))
    #expect(device.linkState == .disconnected)
    #expect(wearables.registrationState == .unavailable)
  }

  @Test("While an environment changes from many threads, the last list wins")
  func concurrency() async {
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for round in 0..<50 {
            environment.setDevices([.glasses("\(task).\(round)")])
            #expect(wearables.devices.count == 1)
          }
        }
      }
    }
    let lists = Observed<[DeviceIdentifier]>()
    let token = wearables.addDevicesListener { lists.record($0) }
    timekeeper.settle()
    #expect(lists.values == [environment.devices.map(\.identifier)])
    withExtendedLifetime(token) {}
  }
}

@Suite("A process without companion and mock")
struct NoCompanionTests {
  let wearables = SharedWearables(environment: CompanionEnvironment(timekeeper: ManualTimekeeper(), dial: nil))

  @Test("Everything is answered at once with what is missing")
  func answers() async throws {
    #expect(wearables.registrationState == .unavailable)
    #expect(wearables.devices.isEmpty)
    await #expect(throws: RegistrationError.metaAINotInstalled) { try await wearables.startRegistration() }
    await #expect(throws: UnregistrationError.metaAINotInstalled) { try await wearables.startUnregistration() }
    await #expect(throws: NavigationError.metaAINotInstalled) { try await wearables.openFirmwareUpdate() }
    await #expect(throws: NavigationError.metaAINotInstalled) { try await wearables.openDATGlassesAppUpdate() }
    await #expect(throws: PermissionError.metaAINotInstalled) { try await wearables.checkPermissionStatus(.camera) }
    await #expect(throws: PermissionError.metaAINotInstalled) { try await wearables.requestPermission(.camera) }
    let ours = try #require(URL(string: "myapp://?metaWearablesAction=register"))
    await #expect(throws: WearablesHandleURLError.registrationError) { try await wearables.handleUrl(ours) }
    let session = try wearables.createSession(deviceSelector: SpecificDeviceSelector(device: "A"))
    #expect(throws: DeviceSessionError.noEligibleDevice) { try session.start() }
  }
}
