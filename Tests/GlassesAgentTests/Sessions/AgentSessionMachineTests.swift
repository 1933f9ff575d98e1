import LinkProtocol
import Testing
import Units

@testable import GlassesAgent

@Suite("The sessions of a pair of glasses")
struct AgentSessionMachineTests {
  private let first = LinkKey(1)
  private let second = LinkKey(2)
  private let session = SessionID(1)
  private let stream = StreamID(7)
  private let video = VideoParameters(codec: .hevc, size: PixelSize(width: 504, height: 896), frameRate: 24)
  private let good = SessionConditions(health: .good, allowsCamera: { _ in true }, allowsMicrophone: { _ in true })

  private func hello(_ app: String) throws -> Hello {
    let nonce = try #require(Nonce([UInt8](repeating: 0, count: Nonce.length)))
    return Hello(
      role: .app, capabilities: [.videoHEVC], identifier: app, name: app, softwareVersion: "1", nonce: nonce)
  }

  /// Links of two apps; a session on the first, and a stream when asked for.
  private func machine(streaming: Bool = false) throws -> AgentSessionMachine {
    var machine = AgentSessionMachine()
    _ = machine.linkOpened(first, hello: try hello("first"), report: DeviceStateReport())
    _ = machine.linkOpened(second, hello: try hello("second"), report: DeviceStateReport())
    _ = machine.received(.sessionOpen(SessionOpen(session: session)), from: first, conditions: good)
    if streaming { _ = start(&machine) }
    return machine
  }

  private func start(_ machine: inout AgentSessionMachine, _ conditions: SessionConditions? = nil)
    -> [SessionAction]
  {
    machine.received(
      .streamStart(StreamStart(stream: stream, session: session, video: video)), from: first,
      conditions: conditions ?? good)
  }

  private var key: StreamKey { StreamKey(link: first, stream: stream) }

  private func closed(_ reason: SessionClosed.Reason, in actions: [SessionAction]) -> Bool {
    actions.contains {
      guard case .send(first, .sessionClosed(let closed)) = $0 else { return false }
      return closed.session == session && closed.reason == reason
    }
  }

  private func stopped(_ reason: StreamStopped.Reason, in actions: [SessionAction]) -> Bool {
    actions.contains {
      guard case .send(first, .streamStopped(let stopped)) = $0 else { return false }
      return stopped.stream == stream && stopped.reason == reason
    }
  }

  // MARK: - Sessions

  @Test("the device's state goes out with the hello, and to each link on every change")
  func reports() throws {
    var machine = AgentSessionMachine()
    let report = DeviceStateReport(batteryLevel: 40)
    let actions = machine.linkOpened(first, hello: try hello("first"), report: report)
    #expect(actions == [.send(first, .deviceState(report))])
    _ = machine.linkOpened(second, hello: try hello("second"), report: report)
    let changed = DeviceStateReport(batteryLevel: 39)
    #expect(
      machine.reportChanged(changed) == [
        .send(first, .deviceState(changed)), .send(second, .deviceState(changed)),
      ])
  }

  @Test("a link carries one session; the next may come when it is closed")
  func oneSession() throws {
    var machine = try machine()
    let next = SessionID(2)
    let refused = machine.received(.sessionOpen(SessionOpen(session: next)), from: first, conditions: good)
    guard case .send(first, .sessionClosed(let answer)) = refused.first else {
      Issue.record("no refusal: \(refused)")
      return
    }
    #expect(answer.reason == .failed(.unsupported))
    let close = machine.received(.sessionClose(SessionClose(session: session)), from: first, conditions: good)
    #expect(closed(.requested, in: close))
    let opened = machine.received(.sessionOpen(SessionOpen(session: next)), from: first, conditions: good)
    #expect(opened == [.send(first, .sessionOpened(SessionOpened(session: next)))])
  }

  @Test("a session closed by both sides at once is closed once")
  func crossedClose() throws {
    var machine = try machine()
    #expect(closed(.endedByDevice, in: machine.held()))
    #expect(
      machine.received(.sessionClose(SessionClose(session: session)), from: first, conditions: good).isEmpty)
  }

  @Test("ending a session ends its pictures first, and drops its photo")
  func closeCascade() throws {
    var machine = try machine(streaming: true)
    let photo = PhotoRequest(photo: PhotoID(3), session: session, format: .jpeg)
    _ = machine.received(.photoRequest(photo), from: first, conditions: good)
    let actions = machine.received(.sessionClose(SessionClose(session: session)), from: first, conditions: good)
    #expect(
      actions == [
        .stopVideo(key), .dropPhoto(PhotoKey(link: first, photo: PhotoID(3))),
        .send(first, .sessionClosed(SessionClosed(session: session, reason: .requested))),
      ])
    #expect(machine.photoFinished(PhotoKey(link: first, photo: PhotoID(3))) == false)
  }

  @Test("glasses too hot for sessions refuse to open one")
  func healthRefusesSession() throws {
    var machine = AgentSessionMachine()
    _ = machine.linkOpened(first, hello: try hello("first"), report: DeviceStateReport())
    let hot = SessionConditions(
      health: .noSession(.thermalCritical), allowsCamera: { _ in true }, allowsMicrophone: { _ in true })
    let actions = machine.received(.sessionOpen(SessionOpen(session: session)), from: first, conditions: hot)
    #expect(closed(.failed(.thermalCritical), in: actions))
  }

  @Test("a peer that speaks as glasses do, or opens one session twice, is sent away")
  func violations() throws {
    var machine = try machine()
    let twice = machine.received(.sessionOpen(SessionOpen(session: session)), from: first, conditions: good)
    guard case .close(first, let goodbye) = twice.last else {
      Issue.record("not sent away: \(twice)")
      return
    }
    #expect(goodbye.reason == .protocolViolation)
    let foreign = machine.received(
      .sessionResumed(SessionResumed(session: session)), from: second, conditions: good)
    guard case .close(second, _) = foreign.last else {
      Issue.record("not sent away: \(foreign)")
      return
    }
    #expect(machine.links.isEmpty)
  }

  // MARK: - Touch, hinge, heat

  @Test("a tap rests the session and its pictures, the next one resumes both")
  func tap() throws {
    var machine = try machine(streaming: true)
    #expect(
      machine.tapped() == [
        .stopVideo(key), .send(first, .sessionPaused(SessionPaused(session: session, reason: .wearer))),
      ])
    #expect(
      machine.tapped() == [.send(first, .sessionResumed(SessionResumed(session: session))), .startVideo(key, video)])
  }

  @Test("a stream started in a paused session brings pictures when it resumes, and can be stopped before")
  func startWhilePaused() throws {
    var machine = try machine()
    _ = machine.tapped()
    #expect(start(&machine) == [.send(first, .streamStarted(StreamStarted(stream: stream, video: video)))])
    #expect(machine.tapped().last == .startVideo(key, video))
    _ = machine.tapped()
    let stop = machine.received(.streamStop(StreamStop(stream: stream)), from: first, conditions: good)
    #expect(stop == [.send(first, .streamStopped(StreamStopped(stream: stream, reason: .requested)))])
    #expect(machine.tapped() == [.send(first, .sessionResumed(SessionResumed(session: session)))])
  }

  @Test("touches without a session do nothing")
  func touchWithoutSession() throws {
    var machine = AgentSessionMachine()
    _ = machine.linkOpened(first, hello: try hello("first"), report: DeviceStateReport())
    #expect(machine.tapped().isEmpty)
    #expect(machine.held().isEmpty)
  }

  @Test("folding tells the stream that the hinge closed, then ends the session by the device")
  func fold() throws {
    var machine = try machine(streaming: true)
    let actions = machine.folded()
    #expect(actions.first == .stopVideo(key))
    #expect(stopped(.failed(.hingeClosed), in: actions))
    #expect(closed(.endedByDevice, in: [try #require(actions.last)]))
  }

  @Test("severe heat ends streams, worse ends sessions")
  func heat() throws {
    var severe = try machine(streaming: true)
    let actions = severe.forbidden(.noStream(.thermalHot))
    #expect(stopped(.failed(.thermalHot), in: actions))
    #expect(severe.sessionCount == 1)
    var critical = try machine(streaming: true)
    #expect(closed(.failed(.thermalCritical), in: critical.forbidden(.noSession(.thermalCritical))))
    #expect(critical.sessionCount == 0)
  }

  @Test("glasses that leave stop every stream, say why on every link, and hear nothing more")
  func leave() throws {
    var machine = try machine(streaming: true)
    let goodbye = Goodbye(reason: .poweringOff)
    #expect(
      machine.leave(.poweringOff) == [.stopVideo(key), .close(first, goodbye), .close(second, goodbye)])
    #expect(start(&machine).isEmpty)
    #expect(machine.linkClosed(first).isEmpty)
  }

  // MARK: - The camera

  @Test("a stream starts with what was agreed, before its first picture")
  func streamStarts() throws {
    var machine = try machine()
    let odd = VideoParameters(codec: .hevc, size: PixelSize(width: 504, height: 896), frameRate: 25)
    let actions = machine.received(
      .streamStart(StreamStart(stream: stream, session: session, video: odd)), from: first, conditions: good)
    #expect(
      actions == [
        .send(first, .streamStarted(StreamStarted(stream: stream, video: video))), .startVideo(key, video),
      ])
  }

  @Test("a stream is refused for the first thing that stands in its way")
  func streamRefused() throws {
    var machine = try machine()
    let forbidden = SessionConditions(
      health: .noStream(.batteryLow), allowsCamera: { _ in false }, allowsMicrophone: { _ in true })
    #expect(stopped(.failed(.cameraPermissionDenied), in: start(&machine, forbidden)))
    let empty = SessionConditions(
      health: .noStream(.batteryLow), allowsCamera: { _ in true }, allowsMicrophone: { _ in true })
    #expect(stopped(.failed(.batteryLow), in: start(&machine, empty)))
    let h264 = VideoParameters(codec: .h264, size: video.size, frameRate: 24)
    let codec = machine.received(
      .streamStart(StreamStart(stream: stream, session: session, video: h264)), from: first, conditions: good)
    #expect(stopped(.failed(.unsupported), in: codec))
    let unknown = machine.received(
      .streamStart(StreamStart(stream: stream, session: SessionID(99), video: video)), from: first,
      conditions: good)
    #expect(stopped(.failed(.notOpen), in: unknown))
    #expect(start(&machine).last == .startVideo(key, video))
  }

  @Test("the camera is lent to one app; the other is told so until it is free (LIFE-4)")
  func lease() throws {
    var machine = try machine(streaming: true)
    _ = machine.received(.sessionOpen(SessionOpen(session: session)), from: second, conditions: good)
    let ask = Message.streamStart(StreamStart(stream: StreamID(1), session: session, video: video))
    let answer = machine.received(ask, from: second, conditions: good)
    guard case .send(second, .streamStopped(let refused)) = answer.first else {
      Issue.record("no refusal: \(answer)")
      return
    }
    #expect(refused.reason == .failed(.heldByOther))
    #expect(machine.linkClosed(first) == [.stopVideo(key)])
    let granted = machine.received(ask, from: second, conditions: good)
    #expect(granted.last == .startVideo(StreamKey(link: second, stream: StreamID(1)), video))
  }

  @Test("a failed source ends its own stream with the words, and not a later one")
  func sourceFails() throws {
    var machine = try machine(streaming: true)
    let other = StreamKey(link: first, stream: StreamID(6))
    #expect(machine.videoFailed(other, code: .sourceFailed, text: "old").isEmpty)
    let actions = machine.videoFailed(key, code: .sourceFailed, text: "no video in it")
    let failed = StreamStopped(stream: stream, reason: .failed(.sourceFailed), text: "no video in it")
    #expect(actions == [.stopVideo(key), .send(first, .streamStopped(failed))])
  }

  @Test(
    "a new feed begins running streams anew, and is looked at for resting ones, which one that can't be played ends")
  func feed() throws {
    var machine = try machine(streaming: true)
    #expect(machine.feedChanged() == [.stopVideo(key), .startVideo(key, video)])
    #expect(machine.feedRefused(key, code: .sourceFailed, text: "of a running one its pipeline says so").isEmpty)
    _ = machine.tapped()
    #expect(machine.feedChanged() == [.checkFeed(key)])
    let failed = StreamStopped(stream: stream, reason: .failed(.sourceFailed), text: "no video in it")
    #expect(
      machine.feedRefused(key, code: .sourceFailed, text: "no video in it") == [.send(first, .streamStopped(failed))])
    #expect(machine.feedRefused(key, code: .sourceFailed, text: "it is over").isEmpty)
  }

  @Test("a keyframe request reaches the stream that it names while that runs")
  func keyframe() throws {
    var machine = try machine(streaming: true)
    func ask(_ id: StreamID) -> [SessionAction] {
      machine.received(
        .keyframeRequest(KeyframeRequest(stream: id, reason: .loss)), from: first, conditions: good)
    }
    #expect(ask(stream) == [.requestKeyframe(key)])
    #expect(ask(StreamID(99)).isEmpty)
    _ = machine.tapped()
    #expect(ask(stream).isEmpty)
  }

  @Test("one photo and the next may be in flight, a third ends the first; after any end the next is taken (PHOTO-2)")
  func photos() throws {
    var machine = try machine(streaming: true)
    func ask(_ id: UInt32, _ conditions: SessionConditions? = nil) -> [SessionAction] {
      let request = PhotoRequest(photo: PhotoID(id), session: session, format: .jpeg)
      return machine.received(.photoRequest(request), from: first, conditions: conditions ?? good)
    }
    func outcome(_ actions: [SessionAction]) -> PhotoResult.Outcome? {
      guard case .send(first, .photoResult(let result)) = actions.first else { return nil }
      return result.outcome
    }
    let key = PhotoKey(link: first, photo: PhotoID(1))
    #expect(ask(1) == [.takePhoto(key, PhotoRequest(photo: PhotoID(1), session: session, format: .jpeg))])
    #expect(outcome(ask(2)) == nil)
    let third = ask(9)
    #expect(third.first == .dropPhoto(key))
    #expect(outcome(Array(third.dropFirst())) == .failed(.photoFailed))
    #expect(third.count == 3)
    #expect(machine.photoFinished(key) == false)
    #expect(machine.photoFinished(PhotoKey(link: first, photo: PhotoID(2))) == true)
    #expect(machine.photoFinished(PhotoKey(link: first, photo: PhotoID(9))) == true)
    #expect(machine.photoFinished(PhotoKey(link: first, photo: PhotoID(9))) == false)
    let denied = SessionConditions(health: .good, allowsCamera: { _ in false }, allowsMicrophone: { _ in true })
    #expect(outcome(ask(3, denied)) == .failed(.cameraPermissionDenied))
    #expect(ask(4).count == 1)
    _ = machine.photoFinished(PhotoKey(link: first, photo: PhotoID(4)))
    _ = machine.tapped()
    #expect(outcome(ask(5)) == .failed(.notOpen))
  }
}
