import LinkProtocol
import MWDATCamera
import MWDATCore
import TestSupport
import Testing
import Units

@Suite("Stream on a link")
struct StreamLifeTests {
  @Test("Streaming is announced with the first picture, not with the glasses' agreement (STALL-2)")
  func streamingMeansPictures() throws {
    let rig = try CameraRig()
    rig.stream.start()
    #expect(rig.stream.state == .waitingForDevice)
    rig.settle()
    #expect(rig.glasses.streamStarts.count == 1)
    #expect(rig.stream.negotiatedVideo != nil)
    #expect(rig.log.values == ["waitingForDevice", "starting"])
    rig.glasses.sendPictures()
    rig.settle()
    #expect(rig.log.values == ["waitingForDevice", "starting", "streaming"])
    #expect(rig.stream.state == .streaming)
  }

  @Test("What is asked of the glasses is the configuration, with the nearest valid frame rate")
  func negotiation() throws {
    let rig = try CameraRig(StreamConfiguration(videoCodec: .raw, resolution: .high, frameRate: 25))
    rig.stream.start()
    rig.settle()
    let start = try #require(rig.glasses.streamStarts.first)
    #expect(start.video == VideoParameters(codec: .hevc, size: PixelSize(width: 720, height: 1280), frameRate: 24))
    #expect(start.audio == nil)
    #expect(rig.stream.streamConfiguration.frameRate == 25)
  }

  @Test("A stop is answered by the glasses, and the same stream starts again")
  func stopAndRestart() throws {
    let rig = try CameraRig()
    rig.stream()
    rig.stream.stop()
    #expect(rig.stream.state == .stopping)
    rig.settle()
    #expect(rig.stream.state == .stopped)
    #expect(rig.camera.state == .started)
    rig.stream()
    let path = ["waitingForDevice", "starting", "streaming", "stopping", "stopped"]
    #expect(rig.log.values == path + path.prefix(3))
    #expect(Set(rig.glasses.streamStarts.map(\.stream)).count == 2)
  }

  @Test("Start right after stop starts again once stopped; double start and double stop are harmless (LIFE-5)")
  func impatience() throws {
    let rig = try CameraRig()
    rig.stream()
    rig.stream.start()
    rig.stream.stop()
    rig.stream.stop()
    rig.stream.start()
    rig.stream.start()
    rig.settle()
    rig.glasses.sendPictures()
    rig.settle()
    let path = ["waitingForDevice", "starting", "streaming", "stopping", "stopped"]
    #expect(rig.log.values == path + path.prefix(3))
  }

  @Test("Glasses that never answer a stop do not keep a stream longer than 2 s (LIFE-1)")
  func muteStop() throws {
    let rig = try CameraRig()
    rig.stream()
    rig.glasses.setScript { $0.answersStop = false }
    rig.stream.stop()
    rig.timekeeper.advance(by: .seconds(2))
    #expect(rig.stream.state == .stopped)
    #expect(rig.log.values.suffix(2) == ["stopping", "stopped"])
  }

  @Test("No picture within 10 s of the request is a timeout, before stopped; the camera goes with it (STALL-2, ERR-3)")
  func noPictures() throws {
    let rig = try CameraRig()
    rig.stream.start()
    rig.timekeeper.advance(by: .milliseconds(9_900))
    #expect(rig.stream.state == .starting)
    rig.timekeeper.advance(by: .milliseconds(200))
    #expect(
      rig.log.values.filter { !$0.hasPrefix("camera") } == [
        "waitingForDevice", "starting", "error timeout", "stopping", "stopped",
      ])
    #expect(rig.camera.state == .stopped)
    rig.settle()
    #expect(rig.glasses.streamStops.count == 1)
  }

  @Test(
    "Glasses that refuse give a typed error, and their words are kept (MOCK-1)",
    arguments: [
      (LinkErrorCode.sourceFailed, StreamError.videoStreamingError), (.cameraPermissionDenied, .permissionDenied),
      (.hingeClosed, .hingesClosed), (.thermalHot, .thermalHot), (.batteryLow, .batteryLow),
      (.peakPowerLimit, .peakPowerLimit), (.heldByOther, .internalError), (.photoFailed, .internalError),
    ])
  func refused(code: LinkErrorCode, error: StreamError) throws {
    let rig = try CameraRig()
    rig.glasses.setScript { $0.start = .refused(code, text: "feed.mp4: not a media file") }
    let events = Observed<StreamTelemetryEvent>()
    let token = rig.stream.telemetryPublisher.listen { events.record($0) }
    rig.stream.start()
    rig.settle()
    #expect(rig.log.values.contains("error \(error)"))
    #expect(rig.stream.state == .stopped)
    #expect(rig.stream.telemetry.errorTexts == ["feed.mp4: not a media file"])
    #expect(
      events.values.contains {
        $0.kind == .failed(StreamFailure(error, .reported(code), at: .start, text: "feed.mp4: not a media file"))
      })
    // They have stopped by themselves.
    #expect(rig.glasses.streamStops.isEmpty)
    withExtendedLifetime(token) {}
  }

  @Test("Permission, device and connection are looked at before the glasses are asked for anything (PERM-2)")
  func availability() throws {
    let denied = try CameraRig()
    denied.environment.setPermission(.success(.denied))
    denied.stream.start()
    denied.settle()
    #expect(denied.log.values.contains("error permissionDenied"))
    #expect(denied.stream.state == .stopped)
    #expect(denied.glasses.streamStarts.isEmpty)

    let gone = try CameraRig()
    gone.environment.setDevices { $0 = [] }
    gone.stream.start()
    gone.settle()
    #expect(gone.log.values.contains("error deviceNotFound(\"A\")"))

    let off = try CameraRig()
    off.environment.setDevices { $0[0].state.linkState = .disconnected }
    off.stream.start()
    off.settle()
    #expect(off.log.values.contains("error deviceNotConnected(\"A\")"))

    let unknown = try CameraRig()
    unknown.environment.setPermission(.failure(.internalError))
    unknown.stream.start()
    unknown.settle()
    #expect(unknown.log.values.contains("error internalError"))
  }

  @Test("A lost link is an error, then stopped", arguments: [true, false])
  func lostLink(withGoodbye: Bool) throws {
    let rig = try CameraRig()
    rig.stream()
    if withGoodbye { rig.glasses.leave(.hingeClosed) } else { rig.glasses.breakLink() }
    rig.settle()
    let error = withGoodbye ? "error hingesClosed" : "error deviceNotConnected(\"A\")"
    #expect(rig.log.values.filter { !$0.hasPrefix("camera") }.suffix(3) == [error, "stopping", "stopped"])
    #expect(rig.camera.state == .stopped)
  }

  @Test("Glasses that end a stream in mid-flow are a failure; what belongs to another stream is not")
  func endedByGlasses() throws {
    let rig = try CameraRig()
    rig.stream()
    let id = try #require(rig.glasses.streamStarts.first?.stream)
    rig.glasses.send(
      .failure(Failure(scope: .stream(StreamID(id.value &+ 1000)), code: .thermalHot, text: "another")))
    rig.glasses.send(.streamStopped(StreamStopped(stream: StreamID(id.value &+ 1000), reason: .requested)))
    rig.settle()
    #expect(rig.stream.state == .streaming)
    rig.glasses.send(.failure(Failure(scope: .stream(id), code: .thermalHot, text: "62 °C")))
    rig.settle()
    #expect(rig.log.values.contains("error thermalHot"))
    #expect(rig.stream.state == .stopped)
    #expect(rig.glasses.streamStops == [id])
  }

  @Test("A paused session pauses the stream at once, and it goes on with the first picture after (LIFE-7)")
  func pause() throws {
    let rig = try CameraRig()
    let frames = Observed<VideoFrame>()
    let token = rig.stream.videoFramePublisher.listen { frames.record($0) }
    rig.stream(pictures: 3)
    let before = frames.values.count
    rig.glasses.send(.sessionPaused(SessionPaused(session: rig.session.linkSessionID, reason: .wearer)))
    rig.settle()
    #expect(rig.stream.state == .paused)
    rig.glasses.sendPictures(2)
    rig.settle()
    #expect(frames.values.count == before)
    #expect(rig.stream.telemetry.drops.stale == 2)
    rig.glasses.send(.sessionResumed(SessionResumed(session: rig.session.linkSessionID)))
    rig.settle()
    #expect(rig.stream.state == .paused)
    // They don't begin with a sync unit, so one is asked for.
    rig.glasses.sendPictures()
    rig.settle()
    #expect(rig.glasses.keyframeRequests.count == 1)
    rig.glasses.skipToSyncPicture()
    rig.glasses.sendPictures()
    rig.settle()
    #expect(rig.stream.state == .streaming)
    #expect(rig.log.values == ["waitingForDevice", "starting", "streaming", "paused", "streaming"])
    // What came during the rest is missing, and the first frame after it says so.
    #expect(frames.values.map(\.followsGap).suffix(2) == [false, true])
    withExtendedLifetime(token) {}
  }

  @Test("A start while the session is paused waits for it, for 30 s at most (STALL-6)")
  func startWhilePaused() throws {
    let rig = try CameraRig()
    rig.glasses.send(.sessionPaused(SessionPaused(session: rig.session.linkSessionID, reason: .wearer)))
    rig.settle()
    rig.stream.start()
    rig.settle()
    #expect(rig.stream.state == .waitingForDevice)
    rig.timekeeper.advance(by: .seconds(30))
    #expect(rig.log.values.contains("error deviceNotConnected(\"A\")"))
    #expect(rig.stream.state == .stopped)
  }

  @Test("The session's stop stops stream and camera first, without an error")
  func cascade() throws {
    let rig = try CameraRig()
    rig.session.statePublisher.listen { [log = rig.log] in log.record("session \($0)") }.store(in: rig.tokens)
    rig.stream()
    rig.session.stop()
    rig.settle()
    #expect(!rig.log.values.contains { $0.contains("error") })
    #expect(rig.stream.state == .stopped)
    #expect(rig.camera.state == .stopped)
    let log = rig.log.values
    let order = ["session stopping", "stopping", "stopped", "camera stopping", "camera stopped", "session stopped"]
    #expect(order.allSatisfy(log.contains))
    #expect(log.last == "session stopped")
    #expect(log.filter { $0 == "stopped" }.count == 1)
  }

  @Test("Camera.stop ends the stream at once and makes room for a new camera; a plain stop does not")
  func cameraStop() throws {
    let rig = try CameraRig()
    rig.stream()
    rig.stream.stop()
    rig.settle()
    #expect(throws: DeviceSessionError.capabilityAlreadyActive) { try rig.session.addCamera() }
    rig.stream()
    rig.camera.stop()
    rig.camera.stop()
    #expect(rig.stream.state == .stopped)
    let second = try #require(try rig.session.addCamera())
    second.stream.start()
    rig.settle()
    rig.glasses.sendPictures()
    rig.settle()
    #expect(second.stream.state == .streaming)
    #expect(rig.log.values.suffix(2).sorted() == ["camera stopped", "stopped"])
    // The first camera's stream is over for good.
    rig.stream.start()
    rig.settle()
    #expect(rig.stream.state == .stopped)
    #expect(rig.log.values.last == "error internalError")
  }

  @Test("After a failure a new camera can be added from within the listener that hears stopped")
  func addAfterFailure() throws {
    let rig = try CameraRig()
    rig.glasses.setScript { $0.start = .refused(.sourceFailed, text: "") }
    let added = Observed<Bool>()
    let token = rig.stream.statePublisher.listen { [session = rig.session] state in
      guard state == .stopped else { return }
      added.record((try? session.addCamera()) != nil)
    }
    rig.stream.start()
    rig.settle()
    #expect(added.values == [true])
    withExtendedLifetime(token) {}
  }

  @Test("A session that is not started has no camera to give")
  func notStarted() throws {
    let rig = try CameraRig()
    rig.camera.stop()
    rig.glasses.send(.sessionPaused(SessionPaused(session: rig.session.linkSessionID, reason: .system)))
    rig.settle()
    #expect(try rig.session.addCamera() == nil)
    rig.session.stop()
    rig.settle()
    #expect(try rig.session.addCamera() == nil)
  }

  @Test("A stream that was let go of is released with its camera (LIFE-3)")
  func released() throws {
    weak var camera: Camera?
    weak var stream: MWDATCamera.Stream?
    weak var photo: Photo?
    do {
      let rig = try CameraRig()
      rig.stream()
      camera = rig.camera
      stream = rig.stream
      photo = rig.camera.photo
      rig.session.stop()
      rig.timekeeper.advance(by: .seconds(60))
    }
    #expect(camera == nil)
    #expect(stream == nil)
    #expect(photo == nil)
  }
}
