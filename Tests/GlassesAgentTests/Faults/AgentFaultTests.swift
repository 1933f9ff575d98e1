import LinkProtocol
import Testing
import Units

@testable import GlassesAgent

@Suite("Faults of simulated glasses")
struct AgentFaultTests {
  private let link = LinkKey(1)
  private let session = SessionID(1)
  private let stream = StreamID(7)
  private let video = VideoParameters(codec: .hevc, size: PixelSize(width: 504, height: 896), frameRate: 24)

  private func conditions(_ change: (inout AgentFaults) -> Void = { _ in }) -> SessionConditions {
    var faults = AgentFaults()
    change(&faults)
    return SessionConditions(
      health: .good, faults: faults, allowsCamera: { _ in true }, allowsMicrophone: { _ in true })
  }

  /// An app's link with an open session.
  private func machine() throws -> AgentSessionMachine {
    var machine = AgentSessionMachine()
    let nonce = try #require(Nonce([UInt8](repeating: 0, count: Nonce.length)))
    let hello = Hello(
      role: .app, capabilities: [.videoHEVC], identifier: "app", name: "App", softwareVersion: "1", nonce: nonce)
    _ = machine.linkOpened(link, hello: hello, report: DeviceStateReport())
    _ = machine.received(.sessionOpen(SessionOpen(session: session)), from: link, conditions: conditions())
    return machine
  }

  private var start: Message { .streamStart(StreamStart(stream: stream, session: session, video: video)) }

  private func photo(_ number: UInt32) -> Message {
    .photoRequest(
      PhotoRequest(photo: PhotoID(number), session: session, format: .jpeg, size: .source, quality: .medium))
  }

  @Test("a refused start leaves the camera free, and the same stream may be tried again")
  func refusedStart() throws {
    var machine = try machine()
    let refused = machine.received(start, from: link, conditions: conditions { $0.refusesStart = .encoderFailed })
    guard case .send(link, .streamStopped(let stopped)) = refused.first, refused.count == 1 else {
      Issue.record("\(refused)")
      return
    }
    #expect(stopped.stream == stream && stopped.reason == .failed(.encoderFailed) && !stopped.text.isEmpty)
    let started = machine.received(start, from: link, conditions: conditions())
    #expect(started.contains(.startVideo(StreamKey(link: link, stream: stream), video)))
  }

  @Test("swallowed photos are forgotten, so that the agent is never busy with them")
  func swallowedPhotos() throws {
    var machine = try machine()
    for number in 1...5 {
      let actions = machine.received(
        photo(UInt32(number)), from: link, conditions: conditions { $0.photo = .swallow })
      #expect(actions.isEmpty)
    }
    guard case .takePhoto = machine.received(photo(6), from: link, conditions: conditions()).first else {
      Issue.record("the next photo is not taken")
      return
    }
  }

  @Test("a refused photo is answered with the code it was told")
  func refusedPhoto() throws {
    var machine = try machine()
    let actions = machine.received(
      photo(1), from: link, conditions: conditions { $0.photo = .failure(.thermalHot) })
    guard case .send(link, .photoResult(let result)) = actions.first, actions.count == 1 else {
      Issue.record("\(actions)")
      return
    }
    #expect(result.outcome == .failed(.thermalHot))
  }

  @Test("an ignored message has no effect at all")
  func ignoredMessages() throws {
    var machine = try machine()
    let deaf = conditions { $0.ignoresMessages = true }
    #expect(machine.received(start, from: link, conditions: deaf).isEmpty)
    #expect(machine.received(.sessionClose(SessionClose(session: session)), from: link, conditions: deaf).isEmpty)
    #expect(machine.sessionCount == 1)
  }

  @Test("an ignored keyframe request asks the encoder for nothing")
  func ignoredKeyframeRequests() throws {
    var machine = try machine()
    _ = machine.received(start, from: link, conditions: conditions())
    let request = Message.keyframeRequest(KeyframeRequest(stream: stream, reason: .loss))
    let ignored = machine.received(request, from: link, conditions: conditions { $0.ignoresKeyframeRequests = true })
    #expect(ignored.isEmpty)
    let heard = machine.received(request, from: link, conditions: conditions())
    #expect(heard == [.requestKeyframe(StreamKey(link: link, stream: stream))])
  }

  @Test("sync units are as far apart as they are told to be, live and replayed", arguments: [false, true])
  func keyframeInterval(replays: Bool) {
    let rig = PipelineRig(frameRate: 24, replays: replays, keyframeInterval: .seconds(3))
    rig.pipeline.start()
    rig.clock.advance(by: .seconds(10))
    let stamps = rig.stamps
    let times = rig.syncIndices.map { stamps[$0] }
    #expect(times.count == 4)
    #expect(zip(times, [0, 3, 6, 9]).allSatisfy { abs($0 - $1) < 0.05 }, "\(times)")
  }
}
