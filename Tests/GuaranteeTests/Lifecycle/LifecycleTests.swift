import Foundation
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// Starts, stops and what is left of them.
@Suite(.exclusive(.mockKit))
struct LifecycleTests {
  @Test("LIFE-1: stop comes within two seconds, in whatever state it is called")
  func stopIsBounded() async throws {
    try await withGlasses { glasses in
      let session = try await startedSession(with: glasses)
      let camera = try #require(try session.addCamera())
      let watched = WatchedStream(camera.stream)
      for reached: StreamState in [.waitingForDevice, .starting, .streaming] {
        let before = watched.states.count
        camera.stream.start()
        try await watched.events.wait("\(reached)") { events in
          events.dropFirst(before).contains(.state(reached)) || events.last == .state(.streaming)
        }
        camera.stream.stop()
        try await watched.events.wait("the stop", within: .seconds(2)) { $0.last == .state(.stopped) }
      }
      let states = session.stateStream()
      session.stop()
      session.stop()
      for await state in states where state == .stopped { break }
      #expect(session.state == .stopped)
    }
  }

  @Test("LIFE-2: each start ends in exactly one stopped, by legal steps")
  func legalPaths() async throws {
    try await withGlasses { glasses in
      let session = try await startedSession(with: glasses)
      let watched = WatchedStream(try #require(try session.addCamera()).stream)
      var generator = SeededGenerator(seed: 7)
      for round in 1...20 {
        watched.stream.start()
        watched.stream.start()  // a second start changes nothing
        // Between no frame and a few: the stop falls into every stage of the start.
        let frames = Int.random(in: 0...2, using: &generator)
        if frames > 0 { try await watched.wait(forFrames: watched.frames.values.count + frames) }
        watched.stream.stop()
        watched.stream.stop()
        // The one of this round: where nothing of the start was told yet, the last state is still the stop before.
        try await watched.events.wait("stop \(round)") { events in
          events.count { $0 == .state(.stopped) } == round
        }
      }
      let states = watched.states
      #expect(states.filter { $0 == .stopped }.count == 20)
      #expect(watched.errors.isEmpty)
      var previous = StreamState.stopped
      for state in states {
        #expect(LegalPaths.stream[previous]?.contains(state) == true, "\(previous) to \(state)")
        previous = state
      }
    }
  }

  @Test("LIFE-3: a session that the app just lets go of gives its place, and the camera, to the next at once")
  func letGo() async throws {
    try await withGlassesByHand { glasses, clock in
      glasses.link.setLatency(.milliseconds(20))
      for round in 0..<5 {
        let selector = SpecificDeviceSelector(device: glasses.deviceIdentifier)
        let session = try Wearables.shared.createSession(deviceSelector: selector)
        try session.start()
        for _ in 0..<30 where session.state != .started { clock.advance(by: .milliseconds(10)) }
        let stream = WatchedStream(try #require(try session.addCamera(config: Self.configuration)).stream)
        stream.stream.start()
        clock.advance(by: .seconds(3))
        #expect(stream.states.last == .streaming, "round \(round)")
        #expect(stream.errors == [], "round \(round)")
        // Stopped by nobody; what held it goes with this round.
      }
      clock.advance(by: .seconds(5))
      #expect(glasses.agent.linkCount == 0)
      #expect(glasses.agent.sessionCount == 0)
    }
  }

  private static let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)

  @Test("LIFE-5: hardware that changes during a stream gives typed ends, never a hang")
  func hardwareChanges() async throws {
    try await withGlasses { glasses in
      let endings: [(String, (any MockGlasses) -> Void)] = [
        ("fold", { $0.fold() }), ("power off", { $0.powerOff() }),
        ("tap and hold", { $0.services.captouch.tapAndHold() }),
      ]
      for (name, end) in endings {
        glasses.powerOn()
        glasses.don()
        let session = try await startedSession(with: glasses)
        let watched = WatchedStream(try #require(try session.addCamera()).stream)
        watched.stream.start()
        try await watched.wait(for: .streaming)
        let states = session.stateStream()
        end(glasses)
        try await watched.events.wait("the stream's end after \(name)", within: .seconds(2)) {
          $0.last == .state(.stopped)
        }
        for await _ in states {}
        #expect(session.state == .stopped)
      }
    }
  }

  @Test("a kit that is disabled during a stream ends everything in it")
  func disableDuringStream() async throws {
    let session = Observed<DeviceSession>()
    let stream = Observed<WatchedStream>()
    try await withGlasses { glasses in
      session.record(try await startedSession(with: glasses))
      let camera = try #require(try session.values.first?.addCamera())
      stream.record(WatchedStream(camera.stream))
      camera.stream.start()
      try await stream.values.first?.wait(for: .streaming)
    }
    try await stream.values.first?.wait(for: .stopped, within: .seconds(2))
    if let states = session.values.first?.stateStream() {
      for await _ in states {}
    }
    #expect(session.values.first?.state == .stopped)
    #expect(Wearables.shared.devices.isEmpty)
  }
}
