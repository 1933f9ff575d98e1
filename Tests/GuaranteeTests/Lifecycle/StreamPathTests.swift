import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// What each observer is told from a start to its end.
@Suite(.exclusive(.mockKit))
struct StreamPathTests {
  /// A camera that is watched by all the rules.
  private func watched(
    _ configuration: WalkConfiguration, in session: DeviceSession, _ judge: WalkJudge
  ) throws -> (Camera, CameraWatch) {
    let camera = try #require(try session.addCamera(config: configuration.configuration))
    return (camera, CameraWatch(camera, of: SessionWatch(session, name: "session", judge), name: "camera", judge))
  }

  @Test(
    "LIFE-2: a stop at any moment of a start ends in exactly one stopped, and the next start begins anew",
    arguments: [WalkConfiguration.compressed15, .decoded15])
  func stopAtAnyMoment(configuration: WalkConfiguration) async throws {
    try await withGlassesByHand { glasses, clock in
      glasses.link.setLatency(.milliseconds(7))
      glasses.link.setLatency(.milliseconds(5), .toGlasses)
      let session = try startedSession(with: glasses, clock)
      let judge = WalkJudge(coverage: Coverage(), strictness: .byHand, timekeeper: clock)
      let (camera, watch) = try watched(configuration, in: session, judge)
      let states = WatchedStream(camera.stream)
      for moment in Array(0...40) + Array(stride(from: 45, through: 400, by: 25)) {
        // In one half the next start comes while the stop is under way, in the other half afterwards.
        camera.stream.start()
        clock.advance(by: .milliseconds(moment))
        watch.streamEndWished()
        camera.stream.stop()
        if moment % 2 == 0 { clock.advance(by: .seconds(2)) } else { clock.settle() }
        watch.settled()
      }
      clock.advance(by: .seconds(2))
      watch.settled()
      #expect(judge.findings.all == [])
      // A start that is taken back while the stop before it is under way never begins.
      let begun = states.states.count { $0 == .waitingForDevice }
      #expect(begun > 40)
      #expect(states.states.count { $0 == .stopped } == begun)
      #expect(states.states.last == .stopped)
      #expect(states.errors == [])
    }
  }

  @Test("LIFE-2: pictures of an attempt that is over never reach a listener of the next")
  func nothingFromAnOlderAttempt() async throws {
    for configuration in [WalkConfiguration.compressed15, .decoded15] {
      try await withGlassesByHand { glasses, clock in
        let session = try startedSession(with: glasses, clock)
        let camera = try #require(try session.addCamera(config: configuration.configuration))
        let stream = WatchedStream(camera.stream)
        camera.stream.start()
        clock.advance(by: .seconds(1))
        #expect(stream.states.last == .streaming)
        // The glasses go on sending to an app that hears nothing, and stops without their answer.
        glasses.link.hold(.toApp)
        camera.stream.requestKeyframe()
        clock.advance(by: .milliseconds(500))
        camera.stream.stop()
        clock.advance(by: .seconds(2))
        #expect(stream.states.last == .stopped)
        let before = stream.frames.values.count
        camera.stream.start()
        let restarted = clock.now
        // What was held, a sync frame with it, comes when frames are taken again.
        for _ in 0..<10_000 where camera.stream.state != .starting {
          clock.advance(by: .microseconds(100))
          await Task.yield()
        }
        #expect(camera.stream.state == .starting)
        clock.advance(by: .milliseconds(50))
        glasses.link.release(.toApp)
        clock.advance(by: .seconds(1))
        #expect(stream.states.last == .streaming)
        let frames = stream.frames.values.dropFirst(before)
        #expect(frames.count > 10)
        #expect(frames.allSatisfy { $0.presentation.value >= restarted.nanoseconds })
      }
    }
  }

  @Test("LIFE-2: a photo of an attempt that is over never reaches a listener of the next")
  func noPhotoFromAnOlderAttempt() async throws {
    try await Scene.run { scene in
      scene.glasses.agent.faults.photo = .delay(.seconds(3))
      #expect(scene.stream.stream.capturePhoto(format: .jpeg))
      scene.stream.stream.stop()
      scene.clock.advance(by: .seconds(2))
      // Its result: the stream ended before it came.
      #expect(scene.stream.errors == [.photoCaptureFailed])
      scene.stream.stream.start()
      scene.clock.advance(by: .seconds(6))
      #expect(scene.stream.states.last == .streaming)
      #expect(scene.stream.photos.values.isEmpty)
      #expect(scene.stream.errors == [.photoCaptureFailed])
    }
  }

  @Test("LIFE-2: who listens after a stop hears nothing of what was before")
  func lateListener() async throws {
    try await Scene.run { scene in
      scene.session.stop()
      scene.clock.advance(by: .seconds(2))
      let late = WatchedStream(scene.camera.stream)
      let states = Observed<DeviceSessionState>()
      let token = scene.session.statePublisher.listen { states.record($0) }
      scene.clock.advance(by: .seconds(5))
      #expect(late.events.values.isEmpty)
      #expect(late.frames.values.isEmpty)
      #expect(states.values.isEmpty)
      withExtendedLifetime(token) {}
    }
  }

  @Test("LIFE-2: a session's sequences end with it, whatever ends it", arguments: Peer.allCases)
  func sequencesEnd(peer: Peer) async throws {
    try await Scene.run { scene in
      let last = Observed<DeviceSessionState?>()
      let ended = await scene.ends(within: .seconds(20)) {
        let states = scene.session.stateStream()
        let errors = scene.session.errorStream()
        peer.become(scene.glasses)
        scene.clock.settle()
        // Peers that only fall silent end a session when its link's patience is over, others when it is stopped.
        switch peer {
        case .healthy, .ignoring, .withoutMessages: scene.session.stop()
        case .dead, .deaf, .silent, .cut, .poweredOff, .unpaired: break
        }
        var seen: DeviceSessionState?
        for await state in states { seen = state }
        for await _ in errors {}
        last.record(seen)
      }
      #expect(ended)
      #expect(last.values == [.stopped])
      #expect(scene.stream.states.count { $0 == .stopped } == 1)
      #expect(scene.stream.states.last == .stopped)
    }
  }
}
