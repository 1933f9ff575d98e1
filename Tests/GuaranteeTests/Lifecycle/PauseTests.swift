import Glasswing
import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing

/// A pause is the wearer's or the glasses': the app waits.
@Suite(.exclusive(.mockKit))
struct PauseTests {
  private func paused(_ test: @escaping @Sendable (Scene, Observed<DeviceSessionState>) async throws -> Void)
    async throws
  {
    try await Scene.run { scene in
      let states = Observed<DeviceSessionState>()
      let token = scene.session.statePublisher.listen { states.record($0) }
      scene.glasses.services.captouch.tap()
      scene.clock.advance(by: .milliseconds(100))
      #expect(scene.session.state == .paused)
      #expect(scene.stream.states.last == .paused)
      #expect(scene.camera.state == .started)
      try await test(scene, states)
      withExtendedLifetime(token) {}
    }
  }

  @Test("LIFE-7: a pause of any length ends in streaming when the wearer goes on, and nobody has to do anything")
  func resumes() async throws {
    try await paused { scene, states in
      let before = scene.stream.frames.values.count
      scene.clock.advance(by: .seconds(3_600))
      #expect(scene.stream.frames.values.count == before)
      #expect(scene.stream.states.last == .paused)
      scene.glasses.services.captouch.tap()
      scene.clock.advance(by: .seconds(1))
      #expect(states.values == [.paused, .started])
      #expect(Array(scene.stream.states.suffix(2)) == [.paused, .streaming])
      #expect(scene.stream.frames.values.count > before + 10)
      #expect(scene.stream.errors == [])
    }
  }

  @Test("LIFE-7: a pause that ends without pictures ends the stream by one error, ten seconds later")
  func resumesWithoutPictures() async throws {
    try await paused { scene, _ in
      scene.glasses.agent.faults.sendsNothing = true
      scene.glasses.services.captouch.tap()
      scene.clock.advance(by: .milliseconds(9900))
      #expect(scene.stream.states.last == .paused && scene.stream.errors.isEmpty)
      scene.clock.advance(by: .milliseconds(300))
      #expect(scene.stream.errors == [.timeout])
      #expect(Array(scene.stream.states.suffix(2)) == [.stopping, .stopped])
      let message = try #require(scene.stream.stream.lastFailure).message
      #expect(message.contains("resume: no picture that can be shown came"), "\(message)")
    }
  }

  @Test(
    "LIFE-7: pictures of before a pause never come in it, however pictures and news bunch up on the way",
    arguments: [WalkConfiguration.compressed15, .decoded15])
  func nothingOfBefore(configuration: WalkConfiguration) async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let camera = try #require(try session.addCamera(config: configuration.configuration))
      let frames = Observed<StreamState?>()
      let token = camera.stream.videoFramePublisher.listen { [weak stream = camera.stream] _ in
        frames.record(stream?.state)
      }
      let watched = WatchedStream(camera.stream, watchesFrames: false)
      camera.stream.start()
      clock.advance(by: .seconds(1))
      for _ in 0..<10 {
        #expect(watched.states.last == .streaming)
        glasses.link.hold(.toApp)
        clock.advance(by: .milliseconds(200))
        glasses.services.captouch.tap()
        clock.advance(by: .milliseconds(10))
        glasses.services.captouch.tap()
        clock.advance(by: .milliseconds(10))
        glasses.link.release(.toApp)
        clock.advance(by: .milliseconds(900))
      }
      #expect(watched.states.count { $0 == .paused } == 10)
      #expect(frames.values.count > 50)
      #expect(frames.values.allSatisfy { $0 == .streaming })
      withExtendedLifetime(token) {}
    }
  }

  @Test("LIFE-7: start during a pause restarts nothing")
  func doesNotRestart() async throws {
    try await paused { scene, states in
      scene.stream.stream.start()
      try scene.session.start()
      scene.stream.stream.requestKeyframe()
      scene.clock.advance(by: .seconds(60))
      #expect(states.values == [.paused])
      #expect(scene.stream.states.last == .paused)
      #expect(scene.stream.stream.capturePhoto(format: .jpeg) == false)
      #expect(scene.stream.errors == [])
    }
  }

  @Test("LIFE-7: a stream that is started during a pause waits for its end, by a deadline")
  func startsAfterwards() async throws {
    try await paused { scene, _ in
      scene.stream.stream.stop()
      scene.clock.advance(by: .seconds(2))
      #expect(scene.stream.states.last == .stopped)
      scene.stream.stream.start()
      scene.clock.advance(by: .seconds(5))
      #expect(scene.stream.states.last == .waitingForDevice)
      scene.glasses.services.captouch.tap()
      scene.clock.advance(by: .seconds(1))
      #expect(scene.stream.states.last == .streaming)
      scene.glasses.services.captouch.tap()
      scene.clock.advance(by: .milliseconds(100))
      scene.stream.stream.stop()
      scene.clock.advance(by: .seconds(2))
      scene.stream.stream.start()
      scene.clock.advance(by: .seconds(31))
      #expect(scene.stream.states.last == .stopped)
      #expect(scene.stream.errors == [.deviceNotConnected(scene.glasses.deviceIdentifier)])
    }
  }

  @Test("LIFE-7: a stop during a pause ends in stopped, without an error")
  func stops() async throws {
    try await paused { scene, states in
      scene.stream.stream.stop()
      scene.clock.advance(by: .seconds(2))
      #expect(Array(scene.stream.states.suffix(3)) == [.paused, .stopping, .stopped])
      scene.session.stop()
      scene.clock.advance(by: .seconds(2))
      #expect(states.values == [.paused, .stopping, .stopped])
      #expect(scene.stream.errors == [])
    }
  }

  @Test(
    "LIFE-7: what ends a session ends it in a pause too, with the reason before the end", arguments: Ending.allCases)
  func ends(ending: Ending) async throws {
    try await paused { scene, states in
      let errors = Observed<DeviceSessionError>()
      let token = scene.session.errorPublisher.listen { errors.record($0) }
      ending.come(to: scene.glasses)
      // A link that has gone quiet is given up after its patience.
      scene.clock.advance(by: .seconds(15))
      #expect(states.values == [.paused, .stopping, .stopped])
      #expect(errors.values.count == 1)
      #expect(scene.stream.states.last == .stopped)
      #expect(scene.stream.states.count { $0 == .stopped } == 1)
      withExtendedLifetime(token) {}
    }
  }

  enum Ending: CaseIterable, Sendable {
    case fold, powerOff, touch, heat, battery, silence, cut, unpair

    func come(to glasses: SimulatedGlasses) {
      switch self {
      case .fold: glasses.fold()
      case .powerOff: glasses.powerOff()
      case .touch: glasses.services.captouch.tapAndHold()
      case .heat: glasses.setThermalLevel(.critical)
      case .battery: glasses.setBatteryLevel(1)
      case .silence: Peer.dead.become(glasses)
      case .cut: glasses.link.cut()
      case .unpair: MockKit.shared.unpairDevice(glasses)
      }
    }
  }

  @Test("LIFE-7: a stream that the glasses' condition forbids in a pause says so and stops, the session stays")
  func conditionDuringPause() async throws {
    try await paused { scene, states in
      scene.glasses.setThermalLevel(.severe)
      scene.clock.advance(by: .seconds(2))
      #expect(scene.stream.errors == [.thermalHot])
      #expect(scene.stream.states.last == .stopped)
      #expect(states.values == [.paused])
      scene.glasses.services.captouch.tap()
      scene.clock.advance(by: .seconds(1))
      #expect(states.values == [.paused, .started])
      #expect(scene.stream.states.last == .stopped)
    }
  }
}
