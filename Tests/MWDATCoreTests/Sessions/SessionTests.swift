import Foundation
import LinkProtocol
import LinkTransport
import MWDATCore
import TestSupport
import Testing
import Units

@Suite("Sessions", .timeLimit(.minutes(5)))
struct SessionTests {
  // MARK: Starting

  @Test("start() returns at once in .starting; .started follows when the glasses have opened the session")
  func start() throws {
    let rig = try SessionRig()
    #expect(rig.session.state == .idle)
    #expect(rig.session.deviceId == "A")
    #expect(rig.session.device?.identifier == "A")
    try rig.session.start()
    #expect(rig.session.state == .starting)
    rig.settle()
    #expect(rig.session.state == .started)
    #expect(rig.log.values == ["starting", "started"])
    #expect(try rig.glasses().messages == [.sessionOpen(SessionOpen(session: rig.session.linkSessionID))])
    #expect(rig.session.peer?.name == "Scripted")
  }

  @Test("Starting a started session does nothing (Q14)")
  func startTwice() throws {
    let rig = try SessionRig()
    try rig.session.start()
    try rig.session.start()
    rig.settle()
    try rig.session.start()
    rig.settle()
    #expect(rig.log.values == ["starting", "started"])
    #expect(rig.environment.glasses.count == 1)
  }

  @Test("A device that is off, incompatible or not listed can't be started on; the session stays idle and may retry")
  func ineligible() throws {
    let rig = try SessionRig()
    let eligible = rig.environment.devices
    for devices in [
      [], [.glasses("A", linkState: .disconnected)], [.glasses("A", linkState: .connecting)],
      [.glasses("A", compatibility: .deviceUpdateRequired)], [.glasses("A", compatibility: .undefined)],
    ] as [[DeviceDescription]] {
      rig.environment.setDevices(devices)
      #expect(throws: DeviceSessionError.noEligibleDevice) { try rig.session.start() }
      #expect(rig.session.state == .idle)
    }
    rig.environment.setDevices(eligible)
    rig.environment.refuseLinks(with: .datAppOnTheGlassesUpdateRequired)
    #expect(throws: DeviceSessionError.datAppOnTheGlassesUpdateRequired) { try rig.session.start() }
    rig.environment.refuseLinks(with: nil)
    try rig.begin()
    #expect(rig.log.values == ["starting", "started"])
  }

  @Test("Glasses that never answer end the start with a typed error within 10 s", arguments: [false, true])
  func noAnswer(answersHello: Bool) throws {
    let rig = try SessionRig(GlassesScript(open: .none, answersHello: answersHello))
    try rig.session.start()
    rig.timekeeper.advance(by: .seconds(12))
    #expect(
      rig.log.values
        == ["starting", "error: \(DeviceSessionError.dwaUnavailable.description)", "stopping", "stopped"])
    #expect(rig.session.failure?.error == .dwaUnavailable)
  }

  @Test("A refusal becomes its error, then .stopping and .stopped (ERR-3)")
  func refused() throws {
    let rig = try SessionRig(GlassesScript(open: .closed(.failed(.heldByOther), text: "recorder")))
    try rig.begin()
    #expect(
      rig.log.values
        == [
          "starting", "error: Another app is using the glasses. Try again when it is done (recorder)", "stopping",
          "stopped",
        ])
    #expect(rig.session.failure?.code == .heldByOther)
  }

  // MARK: Stopping

  @Test("stop() closes the session at the glasses, shows no error, and both streams end (Q20)")
  func stop() async throws {
    let rig = try SessionRig()
    let states = rig.session.stateStream()
    let errors = rig.session.errorStream()
    try rig.begin()
    rig.session.stop()
    #expect(rig.session.state == .stopping)
    rig.session.stop()
    rig.timekeeper.advance(by: .seconds(2))
    rig.session.stop()
    rig.settle()
    #expect(rig.log.values == ["starting", "started", "stopping", "stopped"])
    #expect(await Array(collecting: states) == [.idle, .starting, .started, .stopping, .stopped])
    #expect(await Array(collecting: errors).isEmpty)
    #expect(try rig.glasses().messages.map(\.name) == ["sessionOpen", "sessionClose"])
    #expect(try rig.glasses().closeCause == .goodbye(Goodbye(reason: .finished)))
    #expect(rig.session.failure == nil)
    #expect(rig.session.link == nil)
  }

  @Test("An idle session goes to .stopped directly; a stopped one can't be started (Q14)")
  func stopIdle() throws {
    let rig = try SessionRig()
    rig.session.stop()
    #expect(rig.session.state == .stopped)
    rig.settle()
    #expect(rig.log.values == ["stopped"])
    #expect(throws: DeviceSessionError.sessionAlreadyStopped) { try rig.session.start() }
    #expect(rig.environment.glasses.isEmpty)
  }

  @Test("stop() ends within 2 s though the glasses never answer (LIFE-1)")
  func stopUnanswered() throws {
    let rig = try SessionRig(GlassesScript(close: .none))
    try rig.begin()
    rig.session.stop()
    rig.timekeeper.advance(by: .milliseconds(900))
    #expect(rig.session.state == .stopping)
    rig.timekeeper.advance(by: .milliseconds(1100))
    #expect(rig.log.values == ["starting", "started", "stopping", "stopped"])
  }

  @Test("A session stopped while it starts never becomes .started")
  func stopWhileStarting() throws {
    let rig = try SessionRig()
    try rig.session.start()
    rig.session.stop()
    rig.timekeeper.advance(by: .seconds(2))
    #expect(rig.log.values == ["starting", "stopping", "stopped"])
    #expect(try rig.glasses().closeCause != nil)
  }

  // MARK: What the glasses do

  @Test("A session the device ends: the error, .stopping, .stopped (ERR-3)")
  func deviceEnds() async throws {
    let rig = try SessionRig()
    let errors = rig.session.errorStream()
    try rig.begin()
    try rig.glasses().send(
      .sessionClosed(SessionClosed(session: rig.session.linkSessionID, reason: .endedByDevice)))
    rig.settle()
    #expect(rig.log.values.dropFirst(2) == ["error: Session ended by device", "stopping", "stopped"])
    #expect(await Array(collecting: errors) == [.unexpectedError(description: "Session ended by device")])
  }

  @Test("Glasses that go off end the session as the device (6.2)")
  func powerOff() throws {
    let rig = try SessionRig()
    try rig.begin()
    try rig.glasses().connection.close(Goodbye(reason: .poweringOff))
    rig.settle()
    #expect(rig.log.values.dropFirst(2) == ["error: Session ended by device", "stopping", "stopped"])
  }

  @Test("A link that breaks ends the session with an error that says so")
  func linkLoss() throws {
    let rig = try SessionRig()
    try rig.begin()
    try rig.glasses().breakLink()
    rig.settle()
    #expect(
      rig.log.values.dropFirst(2)
        == ["error: The link to the glasses was lost: the connection broke", "stopping", "stopped"])
  }

  @Test("A failure of the session ends it with the error it names, and closes it at the glasses")
  func failure() throws {
    let rig = try SessionRig()
    try rig.begin()
    try rig.glasses().send(
      .failure(Failure(scope: .session(rig.session.linkSessionID), code: .batteryCritical)))
    rig.settle()
    #expect(
      rig.log.values.dropFirst(2)
        == ["error: \(DeviceSessionError.batteryCritical.description)", "stopping", "stopped"])
    #expect(try rig.glasses().messages.last?.name == "sessionClose")
  }

  @Test("Only the glasses pause and resume a session; each is announced once (LIFE-7)")
  func pause() throws {
    let rig = try SessionRig()
    try rig.begin()
    let id = rig.session.linkSessionID
    let glasses = try rig.glasses()
    glasses.send(.sessionPaused(SessionPaused(session: id, reason: .wearer)))
    glasses.send(.sessionPaused(SessionPaused(session: id, reason: .wearer)))
    rig.settle()
    #expect(rig.session.state == .paused)
    try rig.session.start()
    rig.settle()
    #expect(rig.session.state == .paused)
    glasses.send(.sessionResumed(SessionResumed(session: id)))
    rig.settle()
    #expect(rig.log.values == ["starting", "started", "paused", "started"])
  }

  @Test("Messages of another session are nobody's")
  func foreignSession() throws {
    let rig = try SessionRig()
    try rig.begin()
    let other = SessionID(rig.session.linkSessionID.value + 1)
    try rig.glasses().send(.sessionClosed(SessionClosed(session: other, reason: .endedByDevice)))
    try rig.glasses().send(.sessionPaused(SessionPaused(session: other, reason: .wearer)))
    rig.settle()
    #expect(rig.session.state == .started)
  }

  // MARK: Listening

  @Test("A state stream replays the current state, a publisher doesn't; after the end a stream is empty (Q1, Q1b)")
  func replay() async throws {
    let rig = try SessionRig()
    try rig.begin()
    let late = rig.session.stateStream()
    let heard = Observed<DeviceSessionState>()
    let token = rig.session.statePublisher.listen { heard.record($0) }
    rig.session.stop()
    rig.timekeeper.advance(by: .seconds(2))
    #expect(await Array(collecting: late) == [.started, .stopping, .stopped])
    #expect(heard.values == [.stopping, .stopped])
    #expect(await Array(collecting: rig.session.stateStream()).isEmpty)
    #expect(await Array(collecting: rig.session.errorStream()).isEmpty)
    await token.cancel()
  }

  @Test("A new session is posted as a notification, with the session as its object")
  func notification() throws {
    let posted = Observed<Bool>()
    let wanted = Observed<ObjectIdentifier>()
    let observer = NotificationCenter.default.addObserver(
      forName: .mwdatDeviceSessionCreated, object: nil, queue: nil
    ) { notification in
      guard let session = notification.object as? DeviceSession else { return posted.record(false) }
      wanted.record(ObjectIdentifier(session))
    }
    let rig = try SessionRig()
    NotificationCenter.default.removeObserver(observer)
    #expect(posted.values.isEmpty)
    #expect(wanted.values.contains(ObjectIdentifier(rig.session)))
  }
}
