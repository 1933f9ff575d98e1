import LinkProtocol
import MWDATCamera
import MWDATCore
import Synchronization
import TestSupport
import Testing
import Units

@Suite("Life of a stream's sound")
struct AudioLifeTests {
  @Test(
    "A number of channels that there is none of ends the start before the link is used",
    arguments: [0, 3, .max] as [UInt32])
  func channels(channels: UInt32) throws {
    let rig = try CameraRig(sound: .rate48000, channels: channels)
    rig.stream.start()
    rig.settle()
    #expect(
      rig.log.values.filter { !$0.hasPrefix("camera") } == [
        "waitingForDevice", "error audioStreamingError", "stopping", "stopped",
      ])
    #expect(rig.stream.telemetry.errorTexts.first?.contains("channels") == true)
    #expect(rig.glasses.streamStarts.isEmpty && rig.environment.permissionChecks == 0)
  }

  @Test("Without the microphone's grant nothing starts; without sound nobody asks about it (PERM-2)")
  func permission() throws {
    let rig = try CameraRig(sound: .rate16000)
    rig.environment.setMicrophonePermission(.success(.denied))
    rig.stream.start()
    rig.settle()
    #expect(
      rig.log.values.filter { !$0.hasPrefix("camera") } == [
        "waitingForDevice", "error permissionDenied", "stopping", "stopped",
      ])
    #expect(rig.glasses.streamStarts.isEmpty)
    #expect(rig.environment.permissionsAsked == [.camera, .microphone])
    #expect(rig.stream.telemetry.errorTexts.first?.contains("icrophone") == true)

    let silent = try CameraRig()
    silent.environment.setMicrophonePermission(.success(.denied))
    silent.stream()
    #expect(silent.stream.state == .streaming)
    #expect(silent.environment.permissionsAsked == [.camera])
    #expect(silent.glasses.streamStarts.map(\.audio) == [nil])
  }

  @Test("Glasses that agree to pictures alone fail the start")
  func agreedWithoutAudio() throws {
    let rig = try CameraRig(sound: .rate16000)
    rig.glasses.setScript { $0.hasAudio = false }
    rig.stream.start()
    rig.settle()
    #expect(rig.log.values.contains("error audioStreamingError"))
    #expect(rig.stream.state == .stopped)
    #expect(rig.glasses.streamStops.count == 1)
  }

  @Test("A microphone that fails ends the stream", arguments: [LinkErrorCode.audioFailed, .microphonePermissionDenied])
  func failure(code: LinkErrorCode) throws {
    let rig = try CameraRig(sound: .rate16000)
    rig.startWithAudio()
    rig.run(.seconds(1))
    let stream = rig.glasses.streamStarts[0].stream
    rig.glasses.send(.streamStopped(StreamStopped(stream: stream, reason: .failed(code), text: "unplugged")))
    rig.settle()
    let error = code == .audioFailed ? "error audioStreamingError" : "error permissionDenied"
    #expect(rig.log.values.filter { !$0.hasPrefix("camera") }.suffix(3) == [error, "stopping", "stopped"])
  }

  @Test("Sound that stops coming for a second is told as pictures are, while those go on; and told when it comes again")
  func stall() throws {
    let rig = try CameraRig(sound: .rate16000)
    let heard = HeardAudio(rig.stream)
    let events = Observed<StreamTelemetryEvent>()
    let token = rig.stream.telemetryPublisher.listen { events.record($0) }
    rig.startWithAudio()
    rig.run(.seconds(1))
    rig.run(.milliseconds(980), sound: false)
    #expect(rig.stream.state == .streaming)
    rig.run(.milliseconds(60), sound: false)
    #expect(rig.stream.state == .starting)
    rig.run(.seconds(3), sound: false)
    #expect(rig.stream.state == .starting)
    #expect(rig.glasses.keyframeRequests.isEmpty)
    rig.run(.milliseconds(20))
    #expect(rig.stream.state == .streaming)
    #expect(heard.frames.last.map { $0.isDiscontinuity && $0.missing == 202 * 320 } == true)
    #expect(heard.frames.faults(rate: 16_000) == [])
    #expect(rig.log.values == ["waitingForDevice", "starting", "streaming", "starting", "streaming"])
    let media = events.values.compactMap { event -> StreamMachine.Medium? in
      if case .stallBegan(_, let medium, _) = event.kind { medium } else { nil }
    }
    #expect(media == [.sound])
    #expect(rig.stream.telemetry.stalls == 1)
    withExtendedLifetime(token) {}
  }

  @Test(
    "Sound that never comes again, or never came, ends the stream by audioStreamingError", arguments: [true, false])
  func stallEnds(hasCome: Bool) throws {
    let rig = try CameraRig(sound: .rate16000)
    rig.startWithAudio()
    if hasCome { rig.run(.seconds(1)) }
    rig.run(.seconds(12), sound: false)
    #expect(
      rig.log.values.filter { !$0.hasPrefix("camera") } == [
        "waitingForDevice", "starting", "streaming", "starting", "error audioStreamingError", "stopping", "stopped",
      ])
  }

  @Test("Where both are missing both have to come")
  func bothMissing() throws {
    let rig = try CameraRig(sound: .rate16000)
    rig.startWithAudio()
    rig.run(.seconds(1))
    rig.run(.seconds(2), sound: false, pictures: false)
    #expect(rig.stream.state == .starting)
    rig.run(.milliseconds(200), pictures: false)
    #expect(rig.stream.state == .starting)
    rig.run(.milliseconds(200))
    #expect(rig.stream.state == .streaming)
    rig.run(.seconds(2), sound: false)
    rig.run(.seconds(2), sound: false, pictures: false)
    rig.run(.milliseconds(200), sound: false)
    #expect(rig.stream.state == .starting, "pictures alone are not enough")
    rig.run(.milliseconds(200))
    #expect(rig.stream.state == .streaming)
  }

  @Test("Sound goes on while pictures stall")
  func picturesStall() throws {
    let rig = try CameraRig(sound: .rate16000)
    let heard = HeardAudio(rig.stream)
    rig.startWithAudio()
    rig.run(.seconds(1))
    rig.run(.seconds(3), pictures: false)
    #expect(rig.stream.state == .starting)
    #expect(heard.frames.count == 200)
  }

  @Test("No sound in a pause; after it a mark, the hole is counted, and stamps are not shifted (SYNC-4)")
  func pause() throws {
    let rig = try CameraRig(sound: .rate16000)
    let heard = HeardAudio(rig.stream)
    rig.startWithAudio()
    let begin = rig.timekeeper.now
    rig.run(.seconds(1))
    let session = rig.session.linkSessionID
    rig.glasses.send(.sessionPaused(SessionPaused(session: session, reason: .wearer)))
    rig.settle()
    let before = heard.frames.count
    rig.run(.seconds(3))
    #expect(heard.frames.count == before)
    #expect(rig.stream.telemetry.sound.stale == 150)
    rig.glasses.send(.sessionResumed(SessionResumed(session: session)))
    rig.timekeeper.settle()
    rig.run(.milliseconds(200), pictures: false)
    #expect(heard.frames.count == before, "the state is still paused")
    let skipped = rig.glasses
    skipped.skipToSyncPicture()
    rig.run(.milliseconds(200))
    #expect(rig.stream.state == .streaming)
    let frames = heard.frames
    #expect(frames[before].isDiscontinuity && frames.filter(\.isDiscontinuity).count == 1)
    #expect(heard.frames.faults(rate: 16_000) == [])
    let last = try #require(frames.last)
    #expect(heard.frames.totalSamples == Int(((last.start - begin).seconds * 16_000).rounded()) + last.count)
  }

  @Test("What was captured before a stop is heard before the stream is stopped, and nothing after (AUD-5)")
  func tail() throws {
    let rig = try CameraRig(sound: .rate16000)
    rig.glasses.setScript { $0.answersStop = false }
    let heard = HeardAudio(rig.stream)
    rig.startWithAudio()
    rig.run(.seconds(1))
    let stream = rig.glasses.streamStarts[0].stream
    rig.stream.stop()
    rig.run(.milliseconds(200), pictures: false)
    #expect(rig.stream.state == .stopping)
    #expect(heard.frames.count == 60)
    let states = rig.stream.statePublisher.listen { [log = rig.log, heard] state in
      if state == .stopped { log.record("heard \(heard.frames.count)") }
    }
    rig.glasses.sendAudio()
    rig.glasses.send(.streamStopped(StreamStopped(stream: stream, reason: .requested)))
    rig.timekeeper.settle()
    #expect(rig.stream.state == .stopped)
    #expect(rig.log.values.last == "heard 61")
    rig.run(.milliseconds(100))
    #expect(heard.frames.count == 61)
    withExtendedLifetime(states) {}
  }

  @Test("Glasses that don't answer a stop do not hold it up, and sound ends with it")
  func tailEnds() throws {
    let rig = try CameraRig(sound: .rate16000)
    rig.glasses.setScript { $0.answersStop = false }
    let heard = HeardAudio(rig.stream)
    rig.startWithAudio()
    rig.stream.stop()
    rig.run(.seconds(3), pictures: false)
    #expect(rig.stream.state == .stopped)
    #expect((70...75).contains(heard.frames.count), "a second and a half")
  }

  @Test("Stopping the camera ends sound at once, and no call begins after a token's cancellation")
  func ends() async throws {
    let rig = try CameraRig(sound: .rate16000)
    let heard = HeardAudio(rig.stream)
    let other = HeardAudio(rig.stream)
    rig.startWithAudio()
    rig.run(.milliseconds(100))
    await heard.cancel()
    rig.run(.milliseconds(100))
    #expect(heard.frames.count == 5 && other.frames.count == 10)
    rig.camera.stop()
    rig.run(.milliseconds(100))
    #expect(other.frames.count == 10)
  }
}
