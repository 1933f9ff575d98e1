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
      for _ in 0..<20 {
        watched.stream.start()
        watched.stream.start()  // a second start changes nothing
        // Between no frame and a few: the stop falls into every stage of the start.
        let frames = Int.random(in: 0...2, using: &generator)
        if frames > 0 { try await watched.wait(forFrames: watched.frames.values.count + frames) }
        watched.stream.stop()
        watched.stream.stop()
        try await watched.wait(for: .stopped)
      }
      let states = watched.states
      #expect(states.filter { $0 == .stopped }.count == 20)
      #expect(watched.errors.isEmpty)
      var previous = StreamState.stopped
      for state in states {
        #expect(Self.legal[previous]?.contains(state) == true, "\(previous) to \(state)")
        previous = state
      }
    }
  }

  private static let legal: [StreamState: Set<StreamState>] = [
    .stopped: [.waitingForDevice],
    .waitingForDevice: [.starting, .stopping, .stopped],
    .starting: [.streaming, .paused, .stopping, .stopped, .waitingForDevice],
    .streaming: [.paused, .starting, .waitingForDevice, .stopping, .stopped],
    .paused: [.streaming, .starting, .stopping, .stopped],
    .stopping: [.stopped],
  ]

  @Test("LIFE-3: a hundred cycles without a pause leave nothing, and the next start streams")
  func hundredCycles() async throws {
    let before = ProcessResources.now()
    try await withGlasses { glasses in
      for _ in 0..<100 {
        let session = try await startedSession(with: glasses)
        let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 30)
        let camera = try #require(try session.addCamera(config: configuration))
        camera.stream.start()
        let states = session.stateStream()
        session.stop()
        for await _ in states {}  // the place is free once the session has stopped
      }
      let session = try await startedSession(with: glasses)
      let watched = WatchedStream(try #require(try session.addCamera()).stream)
      watched.stream.start()
      try await watched.events.wait("streaming", within: .seconds(3)) { $0.last == .state(.streaming) }
    }
    // Threads outlive their last work by a little; other tests of the process have some of their own.
    let after = await ProcessResources.settled { now in
      Self.ours.allSatisfy { now.threads(named: $0).count <= before.threads(named: $0).count }
        && now.descriptors.count <= before.descriptors.count
    }
    for name in Self.ours {
      #expect(after.threads(named: name).count <= before.threads(named: name).count, "\(after)")
    }
    #expect(after.descriptors.count <= before.descriptors.count, "\(after)")
  }

  /// Beginnings of the names of the threads that a stream has.
  private static let ours = [
    "gw-", "session", "stream", "camera", "photo", "capture", "encode", "decode",
  ]

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
