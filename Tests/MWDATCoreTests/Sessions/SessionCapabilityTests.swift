import LinkProtocol
import LinkTransport
import MWDATCore
import TestSupport
import Testing
import Units

@Suite("Capabilities of a session", .timeLimit(.minutes(5)))
struct SessionCapabilityTests {
  func attach(_ rig: SessionRig) throws -> TellingCapability {
    let capability = TellingCapability(rig.log) { [weak session = rig.session] in session?.state }
    try rig.session.attach(capability)
    return capability
  }

  @Test("A capability can be attached to a started session only, one of each type, again after it was detached")
  func attaching() throws {
    let rig = try SessionRig()
    #expect(throws: DeviceSessionError.sessionIdle) { try attach(rig) }
    try rig.session.start()
    #expect(throws: DeviceSessionError.sessionIdle) { try attach(rig) }
    rig.settle()
    let first = try attach(rig)
    #expect(throws: DeviceSessionError.capabilityAlreadyActive) { try attach(rig) }
    rig.session.detach(first)
    rig.session.detach(first)
    _ = try attach(rig)
    try rig.glasses().send(
      .sessionPaused(SessionPaused(session: rig.session.linkSessionID, reason: .system)))
    rig.settle()
    #expect(throws: DeviceSessionError.sessionIdle) { try attach(rig) }
    rig.session.stop()
    #expect(throws: DeviceSessionError.sessionAlreadyStopped) { try attach(rig) }
    rig.settle()
    #expect(throws: DeviceSessionError.sessionAlreadyStopped) { try attach(rig) }
  }

  @Test("Ending goes parent to child: .stopping, the capability, .stopped (6.1)")
  func cascade() throws {
    let rig = try SessionRig()
    try rig.begin()
    _ = try attach(rig)
    rig.session.stop()
    rig.settle()
    #expect(rig.log.values.dropFirst(2) == ["stopping", "capability ending while stopping", "stopped"])
  }

  @Test("What a capability says while it ends reaches the glasses before the session's close")
  func lastWords() throws {
    final class Speaking: SessionCapability {
      let link: LinkConnection
      init(_ link: LinkConnection) { self.link = link }
      func sessionPaused(_ reason: SessionPaused.Reason) {}
      func sessionResumed() {}
      func sessionEnding() { link.send(.streamStop(StreamStop(stream: StreamID(1)))) }
      func sessionLinkEvent(_ event: LinkEvent) {}
    }
    let rig = try SessionRig()
    try rig.begin()
    try rig.session.attach(Speaking(try #require(rig.session.link)))
    rig.session.stop()
    rig.settle()
    #expect(try rig.glasses().messages.map(\.name) == ["sessionOpen", "streamStop", "sessionClose"])
  }

  @Test("Pause and resume reach it in order, with the reason, and wait for no listener (LIFE-7)")
  func pause() throws {
    let rig = try SessionRig()
    try rig.begin()
    _ = try attach(rig)
    let id = rig.session.linkSessionID
    try rig.glasses().send(.sessionPaused(SessionPaused(session: id, reason: .thermal)))
    try rig.glasses().send(.sessionResumed(SessionResumed(session: id)))
    rig.settle()
    let heard = rig.log.values.dropFirst(2)
    #expect(
      heard.filter { $0.hasPrefix("capability") } == ["capability paused: thermal", "capability resumed"])
    #expect(heard.filter { !$0.hasPrefix("capability") } == ["paused", "started"])
  }

  @Test("It gets what the session does not consume, and the link's end before its own")
  func linkEvents() throws {
    let rig = try SessionRig()
    try rig.begin()
    _ = try attach(rig)
    let glasses = try rig.glasses()
    glasses.send(.streamStopped(StreamStopped(stream: StreamID(1), reason: .requested)))
    glasses.send(.deviceState(DeviceStateReport()))
    glasses.send(.failure(Failure(scope: .stream(StreamID(1)), code: .encoderFailed)))
    rig.settle()
    glasses.breakLink()
    rig.settle()
    let heard = rig.log.values.dropFirst(2)
    #expect(
      heard.filter { $0.hasPrefix("message") || $0.hasPrefix("link") || $0.hasPrefix("capability") } == [
        "message streamStopped", "message deviceState", "message failure", "link closed",
        "capability ending while stopping",
      ])
  }

  @Test("A detached one hears nothing, and is released")
  func detached() throws {
    let rig = try SessionRig()
    try rig.begin()
    weak var released: TellingCapability?
    do {
      let capability = try attach(rig)
      released = capability
      rig.session.detach(capability)
    }
    #expect(released == nil)
    rig.session.stop()
    rig.settle()
    #expect(rig.log.values.dropFirst(2) == ["stopping", "stopped"])
  }

  @Test("It is released with its session")
  func releasedWithSession() throws {
    weak var released: TellingCapability?
    let timekeeper = ManualTimekeeper()
    let wearables = SharedWearables(environment: FakeEnvironment(timekeeper, devices: [.glasses("A")]))
    let log = Observed<String>()
    do {
      let session = try wearables.createSession(deviceSelector: SpecificDeviceSelector(device: "A"))
      try session.start()
      timekeeper.advance(by: .milliseconds(100))
      let capability = TellingCapability(log) { [weak session] in session?.state }
      try session.attach(capability)
      released = capability
    }
    timekeeper.advance(by: .seconds(2))
    #expect(released == nil)
    #expect(log.values == ["capability ending while released"])
  }
}
