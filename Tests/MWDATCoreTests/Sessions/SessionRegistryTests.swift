import LinkProtocol
import LinkTransport
import MWDATCore
import TestSupport
import Testing

@Suite("Sessions of one process", .timeLimit(.minutes(5)))
struct SessionRegistryTests {
  func create(_ wearables: SharedWearables, _ device: DeviceIdentifier = "A") throws -> DeviceSession {
    try wearables.createSession(deviceSelector: SpecificDeviceSelector(device: device))
  }

  @Test("One live session a device, any number of devices (Q16)")
  func onePerDevice() throws {
    let rig = try SessionRig(devices: [.glasses("A"), .glasses("B")])
    #expect(throws: DeviceSessionError.sessionAlreadyExists) { try create(rig.wearables) }
    let other = try create(rig.wearables, "B")
    try rig.begin()
    try other.start()
    rig.settle()
    #expect(rig.session.state == .started)
    #expect(other.state == .started)
    #expect(throws: DeviceSessionError.sessionAlreadyExists) { try create(rig.wearables) }
  }

  @Test("The slot is free when the session has stopped, not before")
  func freeAfterStop() throws {
    let rig = try SessionRig()
    try rig.begin()
    rig.session.stop()
    #expect(throws: DeviceSessionError.sessionAlreadyExists) { try create(rig.wearables) }
    rig.settle()
    let next = try create(rig.wearables)
    try next.start()
    rig.settle()
    #expect(next.state == .started)
  }

  @Test("A released session frees its slot and still ends in order, at the glasses too")
  func released() async throws {
    let timekeeper = ManualTimekeeper()
    let environment = FakeEnvironment(timekeeper, devices: [.glasses("A")])
    let wearables = SharedWearables(environment: environment)
    var session: DeviceSession? = try create(wearables)
    let states = try #require(session?.stateStream())
    try session?.start()
    timekeeper.advance(by: .milliseconds(100))
    session = nil
    let next = try create(wearables)
    timekeeper.advance(by: .seconds(2))
    #expect(await Array(collecting: states) == [.idle, .starting, .started, .stopping, .stopped])
    #expect(environment.glasses.first?.messages.map(\.name) == ["sessionOpen", "sessionClose"])
    #expect(environment.glasses.first?.closeCause == .goodbye(Goodbye(reason: .finished)))
    try next.start()
    timekeeper.advance(by: .milliseconds(100))
    #expect(next.state == .started)
  }

  @Test("A session of an environment that was replaced is in nobody's way")
  func replacedEnvironment() throws {
    let rig = try SessionRig()
    try rig.begin()
    rig.wearables.use(FakeEnvironment(rig.timekeeper, devices: [.glasses("A")]))
    _ = try create(rig.wearables)
  }

  @Test("100 cycles of create, start and stop without a pause leave nothing open (LIFE-3)")
  func cycles() async throws {
    let environment = FakeEnvironment(SystemTimekeeper(), devices: [.glasses("A")])
    let wearables = SharedWearables(environment: environment)
    for _ in 0..<100 {
      let session = try create(wearables)
      let states = session.stateStream()
      try session.start()
      var seen: [DeviceSessionState] = []
      for await state in states {
        seen.append(state)
        guard state == .started else { continue }
        session.stop()
      }
      #expect(seen == [.idle, .starting, .started, .stopping, .stopped])
    }
    #expect(environment.glasses.count == 100)
    for glasses in environment.glasses { try await glasses.closed.wait { !$0.isEmpty } }
  }

  @Test("start() and stop() from several threads at once go a legal way and end once (LIFE-2, LIFE-5)")
  func races() async throws {
    let environment = FakeEnvironment(SystemTimekeeper(), devices: [.glasses("A")])
    let wearables = SharedWearables(environment: environment)
    for _ in 0..<50 {
      let session = try create(wearables)
      let states = session.stateStream()
      await withTaskGroup(of: Void.self) { group in
        group.addTask { try? session.start() }
        group.addTask { session.stop() }
        group.addTask { try? session.start() }
        group.addTask { session.stop() }
      }
      let seen = await Array(collecting: states)
      #expect(seen.filter { $0 == .stopped }.count == 1)
      #expect(seen.last == .stopped)
      #expect(session.state == .stopped)
    }
  }
}
