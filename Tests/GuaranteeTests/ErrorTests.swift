import Foundation
import Glasswing
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// Errors: told before the state that they explain, and as bad as they say they are.
@Suite(.exclusive(.mockKit))
struct ErrorTests {
  /// What ends or disturbs a running stream, and what a listener of it hears.
  struct Cause: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The stream's error, and the session's where it ends too.
    let stream: StreamError?
    let endsSession: Bool
    let act: @Sendable (SimulatedGlasses, MWDATCamera.Stream) -> Void

    init(
      _ name: String, _ stream: StreamError?, endsSession: Bool = false,
      _ act: @escaping @Sendable (SimulatedGlasses, MWDATCamera.Stream) -> Void
    ) {
      testDescription = name
      self.stream = stream
      self.endsSession = endsSession
      self.act = act
    }
  }

  static let causes: [Cause] = [
    Cause("fold", .hingesClosed, endsSession: true) { glasses, _ in glasses.fold() },
    Cause("hot", .thermalHot) { glasses, _ in glasses.setThermalLevel(.severe) },
    Cause("battery low", .batteryLow) { glasses, _ in glasses.setBatteryLevel(4) },
    Cause("muted for ever", .timeout) { glasses, _ in glasses.link.mute(.video) },
    Cause("feed that can't be played", .videoStreamingError) { glasses, _ in
      glasses.services.camera.setCameraFeed(fileURL: URL(fileURLWithPath: "/nowhere/feed.mp4"))
    },
    Cause("photo fails", .photoCaptureFailed) { glasses, stream in
      glasses.agent.faults.photo = .failure(.photoFailed)
      stream.capturePhoto(format: .jpeg)
    },
    Cause("photo swallowed", .photoCaptureFailed) { glasses, stream in
      glasses.agent.faults.photo = .swallow
      stream.capturePhoto(format: .heic)
    },
  ]

  @Test(
    "ERR-2, ERR-3: what happens to a stream gives each listener one error, before the states, as bad as it says",
    arguments: causes)
  func streamErrors(_ cause: Cause) async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)
      let stream = try await startedStream(in: session, configuration, clock).stream
      let watches = (0..<3).map { _ in SilenceWatch(stream, clock) }
      clock.walk(.milliseconds(500))
      cause.act(glasses, stream)
      clock.walk(.seconds(14))
      for watch in watches {
        let error = try #require(watch.errors.first, "\(watch.events)")
        #expect(watch.errors == [cause.stream])
        let isAtEnd = watch.last == .stopped
        #expect((error.facts.severity == .terminal) == isAtEnd, "\(error.facts) and \(watch.last)")
        expectErrorFirst(watch.events, error)
      }
      #expect(cause.endsSession == (session.state == .stopped))
      session.stop()
    }
  }

  /// Nothing but what says that pictures are missing stands before the error.
  private func expectErrorFirst(_ events: [WatchedStream.Event], _ error: StreamError) {
    let place = events.firstIndex(of: .error(error)) ?? 0
    #expect(events[..<place].allSatisfy { $0 == .state(.starting) }, "\(events)")
    if error.facts.severity == .terminal {
      #expect(events[(place + 1)...] == [.state(.stopping), .state(.stopped)], "\(events)")
    } else {
      #expect(events == [.error(error)])
    }
  }

  @Test(
    "ERR-2: whatever the glasses refuse a start with becomes one terminal error, and the state is at its end",
    arguments: LinkErrorCode.allCases)
  func refusals(code: LinkErrorCode) async throws {
    try await withGlassesByHand { glasses, clock in
      glasses.agent.faults.refusesStart = code
      let session = try startedSession(with: glasses, clock)
      let camera = try #require(
        try session.addCamera(config: StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)))
      let watch = SilenceWatch(camera.stream, clock)
      camera.stream.start()
      for _ in 0..<200 where watch.last != .stopped || watch.events.isEmpty {
        clock.advance(by: .milliseconds(20))
        await Task.yield()
      }
      let error = try #require(watch.errors.first)
      #expect(watch.errors.count == 1)
      #expect(error.facts.severity == .terminal)
      #expect(watch.events.suffix(3) == [.error(error), .state(.stopping), .state(.stopped)])
      #expect(session.state == .started, "a stream's failure is not its session's")
      session.stop()
    }
  }

  /// What ends a running session.
  struct SessionCause: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let name: String
    let act: @Sendable (SimulatedGlasses) -> Void

    init(_ description: String, _ name: String, _ act: @escaping @Sendable (SimulatedGlasses) -> Void) {
      testDescription = description
      self.name = name
      self.act = act
    }
  }

  static let sessionCauses: [SessionCause] = [
    SessionCause("fold", "session.unexpectedError") { $0.fold() },
    SessionCause("power off", "session.unexpectedError") { $0.powerOff() },
    SessionCause("touchpad held", "session.unexpectedError") { $0.services.captouch.tapAndHold() },
    SessionCause("thermal critical", "session.thermalCritical") { $0.setThermalLevel(.critical) },
    SessionCause("thermal emergency", "session.thermalEmergency") { $0.setThermalLevel(.emergency) },
    SessionCause("battery critical", "session.batteryCritical") { $0.setBatteryLevel(1) },
    SessionCause("cut", "session.unexpectedError") { $0.link.cut() },
    SessionCause("dead peer", "session.unexpectedError") {
      $0.link.hold(.toApp)
      $0.link.hold(.toGlasses)
    },
  ]

  private enum SessionEvent: Equatable {
    case state(DeviceSessionState)
    case error(DeviceSessionError)
  }

  @Test(
    "ERR-2, ERR-3: what keeps a session from starting gives each listener one terminal error, then stopping, stopped",
    arguments: [
      SessionCause("answers nothing", "session.dwaUnavailable") { $0.agent.faults.ignoresMessages = true },
      SessionCause("dead peer", "session.dwaUnavailable") {
        $0.link.hold(.toApp)
        $0.link.hold(.toGlasses)
      },
      SessionCause("thermal critical", "session.thermalCritical") { $0.setThermalLevel(.critical) },
    ])
  func sessionStartErrors(_ cause: SessionCause) async throws {
    try await withGlassesByHand { glasses, clock in
      let selector = SpecificDeviceSelector(device: glasses.deviceIdentifier)
      let session = try Wearables.shared.createSession(deviceSelector: selector)
      let tokens = ListenerTokenBag()
      let listeners = (0..<3).map { _ in Observed<SessionEvent>() }
      for heard in listeners {
        session.statePublisher.listen { heard.record(.state($0)) }.store(in: tokens)
        session.errorPublisher.listen { heard.record(.error($0)) }.store(in: tokens)
      }
      cause.act(glasses)
      try session.start()
      clock.walk(.seconds(20), until: { session.state == .stopped })
      clock.walk(.milliseconds(100))
      for heard in listeners {
        let error = try #require(
          heard.values.lazy.compactMap { if case .error(let error) = $0 { error } else { nil } }.first)
        #expect(heard.values == [.state(.starting), .error(error), .state(.stopping), .state(.stopped)])
        #expect(error.facts.name == cause.name)
        #expect(error.facts.severity == .terminal)
      }
      #expect(session.lastFailure?.message.isEmpty == false)
      tokens.clear()
    }
  }

  @Test(
    "ERR-2, ERR-3: what ends a session gives each listener one terminal error, then stopping, stopped",
    arguments: sessionCauses)
  func sessionErrors(_ cause: SessionCause) async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let tokens = ListenerTokenBag()
      let listeners = (0..<3).map { _ in Observed<SessionEvent>() }
      for heard in listeners {
        session.statePublisher.listen { heard.record(.state($0)) }.store(in: tokens)
        session.errorPublisher.listen { heard.record(.error($0)) }.store(in: tokens)
      }
      cause.act(glasses)
      clock.walk(.seconds(20), until: { session.state == .stopped })
      clock.walk(.milliseconds(100))
      for heard in listeners {
        guard case .error(let error) = heard.values.first else {
          Issue.record("\(heard.values)")
          continue
        }
        #expect(heard.values == [.error(error), .state(.stopping), .state(.stopped)])
        #expect(error.facts.name == cause.name)
        #expect(error.facts.severity == .terminal)
      }
      tokens.clear()
    }
  }

  @Test("ERR-2: errors that a session's calls throw leave it where it is")
  func thrown() async throws {
    try await withGlassesByHand { glasses, clock in
      let selector = SpecificDeviceSelector(device: glasses.deviceIdentifier)
      let session = try startedSession(with: glasses, clock)
      let second = #expect(throws: DeviceSessionError.self) {
        _ = try Wearables.shared.createSession(deviceSelector: selector)
      }
      #expect(second?.facts.name == "session.sessionAlreadyExists")
      #expect(second?.facts.severity == .recoverable)
      let camera = try session.addCamera()
      let again = #expect(throws: DeviceSessionError.self) { _ = try session.addCamera() }
      #expect(again?.facts.name == "session.capabilityAlreadyActive")
      #expect(again?.facts.severity == .recoverable)
      #expect(session.state == .started && camera?.state == .started)
      session.stop()
      clock.walk(.seconds(2))
      let late = #expect(throws: DeviceSessionError.self) { try session.start() }
      #expect(late?.facts.name == "session.sessionAlreadyStopped")
      #expect(late?.facts.severity == .terminal)
    }
  }

  @Test("A permission that is taken back ends photos as it keeps them from starting: error, stopping, stopped (ERR-2)")
  func photoPermission() async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let camera = try #require(try session.addCamera())
      let heard = Observed<String>()
      let tokens = ListenerTokenBag()
      camera.photo.statePublisher.listen { heard.record("\($0)") }.store(in: tokens)
      camera.photo.errorPublisher.listen { heard.record($0.facts.name) }.store(in: tokens)
      camera.photo.start()
      for _ in 0..<20 {
        clock.advance(by: .milliseconds(20))
        await Task.yield()
      }
      MockKit.shared.permissions.set(.camera, .denied)
      camera.photo.capturePhoto()
      clock.walk(.seconds(1))
      #expect(heard.values == ["starting", "started", "photo.permissionDenied", "stopping", "stopped"])
      tokens.clear()
      session.stop()
    }
  }

  @Test("ERR-5: readiness names what is missing, first things first, and is ready when nothing is")
  func readiness() async throws {
    MockDeviceKit.shared.enable(
      config: MockDeviceKitConfig(initiallyRegistered: false, initialPermissionsGranted: false))
    func first() async -> Readiness.Step? { await Wearables.readiness().missing.first?.step }
    func expectRemedies() async {
      for check in await Wearables.readiness().missing { #expect(check.remedy?.isEmpty == false) }
    }
    #expect(await first() == .registered)
    await expectRemedies()
    try await Wearables.shared.startRegistration()
    let registered = Wearables.shared.registrationStateStream()
    for await state in registered where state == .registered { break }
    #expect(await first() == .deviceKnown)
    await expectRemedies()
    let glasses = try MockDeviceKit.shared.pairGlasses(model: .rayBanMeta)
    #expect(await first() == .deviceKnown, "glasses that were never on are not listed")
    glasses.powerOn()
    glasses.don()
    #expect(await first() == .cameraPermitted)
    glasses.powerOff()
    #expect(await first() == .reachable)
    await expectRemedies()
    glasses.powerOn()
    glasses.fold()
    #expect(await first() == .unfolded)
    glasses.unfold()
    glasses.setBatteryLevel(3)
    #expect(await Wearables.readiness().missing.map(\.step) == [.healthy, .cameraPermitted])
    glasses.setBatteryLevel(80)
    MockDeviceKit.shared.permissions.set(.camera, .granted)
    let ready = await Wearables.readiness()
    #expect(ready.isReady && ready.missing.isEmpty)
    #expect(ready.checks.map(\.step) == Readiness.Step.allCases.filter { $0 != .microphonePermitted })
    await MockDeviceKit.shared.disable()
  }
}
