import LinkProtocol
import Testing
import Units

@testable import GlassesAgent

@Suite("Apps that fall silent, as the sessions of a pair of glasses see them")
struct InterruptionTests {
  private let first = LinkKey(1)
  private let second = LinkKey(2)
  private let session = SessionID(1)
  private let stream = StreamID(7)
  private let photo = PhotoID(3)
  private let video = VideoParameters(codec: .hevc, size: PixelSize(width: 504, height: 896), frameRate: 24)
  /// Of the second link, which takes the camera, 4 s of the lease are left.
  private let conditions = SessionConditions(
    health: .good, allowsCamera: { _ in true }, allowsMicrophone: { _ in true },
    leaseLeft: { $0 == LinkKey(2) ? .seconds(4) : .seconds(1) })

  private var key: StreamKey { StreamKey(link: first, stream: stream) }

  private func hello(_ app: String) throws -> Hello {
    let nonce = try #require(Nonce([UInt8](repeating: 0, count: Nonce.length)))
    return Hello(
      role: .app, capabilities: [.videoHEVC], identifier: app, name: app, softwareVersion: "1", nonce: nonce)
  }

  /// Two apps with a session each; the first one streams.
  private func machine() throws -> AgentSessionMachine {
    var machine = AgentSessionMachine()
    for (link, app) in [(first, "first"), (second, "second")] {
      _ = machine.linkOpened(link, hello: try hello(app), report: DeviceStateReport())
      _ = machine.received(.sessionOpen(SessionOpen(session: session)), from: link, conditions: conditions)
    }
    _ = start(&machine, first)
    return machine
  }

  private func start(_ machine: inout AgentSessionMachine, _ link: LinkKey) -> [SessionAction] {
    machine.received(
      .streamStart(StreamStart(stream: stream, session: session, video: video)), from: link, conditions: conditions)
  }

  @Test("a silent app's pictures and photos end, its photos are answered, its session and stream stay (LIFE-4)")
  func lapse() throws {
    var machine = try machine()
    let request = PhotoRequest(photo: photo, session: session, format: .jpeg)
    _ = machine.received(.photoRequest(request), from: first, conditions: conditions)
    let actions = machine.linkSilent(first)
    #expect(actions.prefix(2) == [.stopVideo(key), .dropPhoto(PhotoKey(link: first, photo: photo))])
    guard case .send(first, .photoResult(let result)) = actions.last else {
      Issue.record("no answer: \(actions)")
      return
    }
    #expect(result.photo == photo && result.outcome == .failed(.photoFailed))
    #expect(actions.count == 3)
    #expect(machine.sessionCount == 2)
    #expect(machine.linkSilent(first).isEmpty)
    #expect(machine.photoFinished(PhotoKey(link: first, photo: photo)) == false)
  }

  @Test("heard again with the camera free, the stream goes on, marked")
  func goesOn() throws {
    var machine = try machine()
    _ = machine.linkSilent(first)
    #expect(machine.linkHeardAgain(first, conditions: conditions) == [.continueVideo(key, video)])
    #expect(machine.linkHeardAgain(first, conditions: conditions).isEmpty)
  }

  @Test("the camera of a silent app is lent to another; heard again, its stream ends by that, its session doesn't")
  func taken() throws {
    var machine = try machine()
    let refusal = StreamStopped(
      stream: stream, reason: .failed(.heldByOther), retryAfter: .seconds(1), text: "another app has the camera")
    #expect(start(&machine, second) == [.send(second, .streamStopped(refusal))])
    _ = machine.linkSilent(first)
    #expect(start(&machine, second).last == .startVideo(StreamKey(link: second, stream: stream), video))
    let actions = machine.linkHeardAgain(first, conditions: conditions)
    guard case .send(first, .streamStopped(let stopped)) = actions.first else {
      Issue.record("not ended: \(actions)")
      return
    }
    #expect(actions.count == 1)
    #expect(stopped.reason == .failed(.heldByOther) && stopped.retryAfter == .seconds(4))
    #expect(machine.sessionCount == 2)
  }

  @Test("whoever took the camera and gave it back before is not in the way")
  func givenBack() throws {
    var machine = try machine()
    _ = machine.linkSilent(first)
    _ = start(&machine, second)
    _ = machine.received(.streamStop(StreamStop(stream: stream)), from: second, conditions: conditions)
    #expect(machine.linkHeardAgain(first, conditions: conditions) == [.continueVideo(key, video)])
  }

  @Test(
    "a stream that rests goes on resting, and begins once, when both silence and rest are over",
    arguments: [true, false])
  func paused(restEndsFirst: Bool) throws {
    var machine = try machine()
    _ = machine.tapped()
    #expect(machine.linkSilent(first).isEmpty)
    var actions: [SessionAction] = []
    if restEndsFirst {
      actions += machine.tapped() + machine.linkHeardAgain(first, conditions: conditions)
      #expect(actions.contains(.continueVideo(key, video)))
    } else {
      actions += machine.linkHeardAgain(first, conditions: conditions) + machine.tapped()
      #expect(actions.contains(.startVideo(key, video)))
    }
    let starts = actions.filter { $0 == .startVideo(key, video) || $0 == .continueVideo(key, video) }
    #expect(starts.count == 1)
  }

  @Test("a pause that begins during the silence holds when the app is heard again")
  func pausedWhileSilent() throws {
    var machine = try machine()
    _ = machine.linkSilent(first)
    #expect(machine.tapped().contains(.send(first, .sessionPaused(SessionPaused(session: session, reason: .wearer)))))
    #expect(machine.linkHeardAgain(first, conditions: conditions).isEmpty)
    #expect(machine.tapped().contains(.startVideo(key, video)))
  }

  @Test("what ends streams or sessions ends a silent app's too, without ending its pictures twice")
  func endsWhileSilent() throws {
    for end: (inout AgentSessionMachine) -> [SessionAction] in [
      { $0.folded() }, { $0.held() }, { $0.forbidden(.noStream(.thermalHot)) }, { $0.leave(.poweringOff) },
      { [first] in $0.linkClosed(first) },
    ] {
      var machine = try machine()
      _ = machine.linkSilent(first)
      #expect(!end(&machine).contains(.stopVideo(key)))
      #expect(machine.linkHeardAgain(first, conditions: conditions).isEmpty)
    }
    var machine = try machine()
    _ = machine.linkSilent(first)
    #expect(machine.feedChanged() == [.checkFeed(key)])
  }

  @Test(
    "glasses that need rest say why; only the end of that reason ends it (LIFE-7)",
    arguments: [
      SessionPaused.Reason.thermal, .system,
    ])
  func rest(reason: SessionPaused.Reason) throws {
    var machine = try machine()
    let actions = machine.rest(reason)
    #expect(actions.first == .stopVideo(key))
    #expect(actions.contains(.send(first, .sessionPaused(SessionPaused(session: session, reason: reason)))))
    #expect(machine.rest(.system).isEmpty)
    #expect(machine.tapped().isEmpty)
    #expect(machine.endRest(.wearer).isEmpty)
    #expect(machine.endRest(reason).contains(.startVideo(key, video)))
  }
}
