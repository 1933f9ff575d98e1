import Foundation
import GlassesAgent
import Glasswing
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// No silence: pictures that don't come, or stop coming.
@Suite(.exclusive(.mockKit))
struct StallTests {
  /// Ways in which pictures stop while nothing says so.
  enum Silence: CaseIterable {
    /// The glasses go on and send none.
    case sendsNothing
    /// Their video vanishes on the way.
    case muted
    /// What they say does not arrive.
    case halfOpen
    /// Nothing arrives on either side.
    case deadPeer
    /// Units arrive, and none can be used: one was lost, and no sync unit comes, whoever asks.
    case withheld

    func begin(_ glasses: SimulatedGlasses) throws {
      switch self {
      case .sendsNothing:
        glasses.agent.faults.sendsNothing = true
        // What runs begins anew, and sends nothing from then on.
        glasses.services.camera.setCameraFeed(fileURL: URL(fileURLWithPath: try MediaFactory.path(.h264)))
      case .muted: glasses.link.mute(.video)
      case .halfOpen: glasses.link.hold(.toApp)
      case .deadPeer:
        glasses.link.hold(.toApp)
        glasses.link.hold(.toGlasses)
      case .withheld:
        glasses.agent.faults.ignoresKeyframeRequests = true
        glasses.link.apply(.drop, to: .unit, .next(0), on: .video)
      }
    }

    func end(_ glasses: SimulatedGlasses) {
      glasses.agent.faults = AgentFaults()
      if self == .sendsNothing { glasses.services.camera.setCameraFeed(cameraFacing: .back) }
      glasses.link.clear()
    }
  }

  private func configuration(_ rate: UInt, _ codec: VideoCodec = .hvc1) -> StreamConfiguration {
    StreamConfiguration(videoCodec: codec, resolution: .low, frameRate: rate)
  }

  @Test(
    "STALL-1, STALL-4: pictures that stop, however, are told within a second (or three intervals), and end in one error",
    arguments: Silence.allCases, [2, 15, 30] as [UInt])
  func silence(kind: Silence, rate: UInt) async throws {
    try await withGlassesByHand { glasses, clock in
      if kind == .withheld { glasses.agent.faults.keyframeInterval = .seconds(20) }
      let session = try startedSession(with: glasses, clock)
      let stream = try await startedStream(in: session, configuration(rate), clock).stream
      let first = SilenceWatch(stream, clock)
      let second = SilenceWatch(stream, clock)
      clock.walk(.seconds(3))
      try kind.begin(glasses)
      let limit = max(.seconds(1), .seconds(3) / Int(rate))
      clock.walk(.seconds(20), until: { stream.state == .stopped })
      for watch in [first, second] {
        #expect(watch.longestSilence <= limit, "\(watch.longestSilence)")
        #expect(watch.errors.count == 1, "\(watch.events)")
        #expect(watch.states.suffix(2) == [.stopping, .stopped], "\(watch.events)")
        #expect(watch.states.first != .stopping, "the state says that pictures are missing before it gives up")
      }
      session.stop()
    }
  }

  @Test("STALL-1: decoded pictures that stop are told just so, though units arrive", arguments: Silence.allCases)
  func silenceOfDecoded(kind: Silence) async throws {
    try await withGlassesByHand { glasses, clock in
      if kind == .withheld { glasses.agent.faults.keyframeInterval = .seconds(20) }
      let session = try startedSession(with: glasses, clock)
      let stream = try await startedStream(in: session, configuration(15, .raw), clock).stream
      let watch = SilenceWatch(stream, clock)
      clock.walk(.seconds(2))
      try kind.begin(glasses)
      clock.walk(.seconds(20), until: { stream.state == .stopped })
      #expect(watch.longestSilence <= .seconds(1), "\(watch.longestSilence)")
      #expect(watch.errors.count == 1)
      session.stop()
    }
  }

  @Test("STALL-1, STALL-3: units that arrive whole and in order and can't be decoded are a stall like any other")
  func undecodable() async throws {
    MWDATCamera.Stream.verifiesPictures = true
    defer { MWDATCamera.Stream.verifiesPictures = false }
    try await withGlassesByHand(writesPictureHashes: true) { glasses, clock in
      glasses.agent.faults.ignoresKeyframeRequests = true
      glasses.agent.faults.keyframeInterval = .seconds(20)
      let session = try startedSession(with: glasses, clock)
      let stream = try await startedStream(in: session, configuration(15, .raw), clock).stream
      let watch = SilenceWatch(stream, clock)
      clock.walk(.seconds(2))
      glasses.link.apply(.corrupt, to: .unit, .next(0), on: .video, syncOnly: false)
      clock.walk(.seconds(4))
      #expect(stream.state == .starting)
      #expect(watch.longestSilence <= .seconds(1), "\(watch.longestSilence)")
      #expect(stream.statistics.unitsPerSecond > 10 && stream.statistics.framesPerSecond == 0)
      glasses.agent.faults = AgentFaults()
      clock.walk(.seconds(2))
      #expect(stream.state == .streaming)
      #expect(watch.errors.isEmpty && stream.statistics.stalls == 1)
      session.stop()
    }
  }

  @Test(
    "STALL-3: after the source resumes frames flow within a second, and the stall is counted with start and length",
    arguments: Silence.allCases, [2, 15, 30] as [UInt])
  func resumes(kind: Silence, rate: UInt) async throws {
    try await withGlassesByHand { glasses, clock in
      if kind == .withheld { glasses.agent.faults.keyframeInterval = .seconds(20) }
      let session = try startedSession(with: glasses, clock)
      let stream = try await startedStream(in: session, configuration(rate), clock).stream
      let watch = SilenceWatch(stream, clock)
      clock.walk(.seconds(3))
      try kind.begin(glasses)
      clock.walk(.milliseconds(2900))
      #expect(stream.state == .starting || stream.state == .waitingForDevice)
      let present = try #require(stream.statistics.recentStalls.last)
      #expect(!present.isOver && present.length > .seconds(2))
      let before = try #require(watch.frames.last)
      kind.end(glasses)
      let resumed = clock.now
      let limit = max(.seconds(1), .seconds(3) / Int(rate))
      clock.walk(limit)
      let after = try #require(watch.frames.first { $0 > before }, "no frame within \(limit)")
      #expect(after - resumed <= limit)
      #expect(stream.state == .streaming)
      clock.walk(.seconds(5))
      let statistics = stream.statistics
      #expect(statistics.stalls == 1)
      let stall = try #require(statistics.recentStalls.last)
      #expect(stall.isOver)
      #expect(stall.startHostNanoseconds == before.nanoseconds)
      #expect(stall.length == after - before)
      #expect(statistics.stalledTime == stall.length)
      #expect(watch.errors.isEmpty)
      session.stop()
    }
  }

  @Test(
    "STALL-3: glasses that hear requests again show within a second, wherever between two requests that is",
    arguments: [15, 30] as [UInt])
  func hearsAgain(rate: UInt) async throws {
    try await withGlassesByHand { glasses, clock in
      glasses.agent.faults.keyframeInterval = .seconds(20)
      let session = try startedSession(with: glasses, clock)
      let stream = try await startedStream(in: session, configuration(rate), clock).stream
      let watch = SilenceWatch(stream, clock)
      clock.walk(.seconds(1))
      for phase in 0..<7 {
        try Silence.withheld.begin(glasses)
        clock.walk(.milliseconds(2000 + 100 * phase))
        let before = watch.frames.count
        glasses.agent.faults.ignoresKeyframeRequests = false
        clock.walk(.seconds(1))
        #expect(watch.frames.count > before, "phase \(phase)")
        #expect(stream.state == .streaming)
      }
      #expect(watch.errors.isEmpty)
      session.stop()
    }
  }

  @Test(
    "STALL-3: when pictures stop a keyframe is asked for at once, though nothing is known to be lost",
    arguments: [Silence.sendsNothing, .muted])
  func asks(kind: Silence) async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let stream = try await startedStream(in: session, configuration(15), clock).stream
      let health = Observed<StreamHealthEvent>()
      let token = stream.healthPublisher.listen { health.record($0) }
      clock.walk(.seconds(2))
      try kind.begin(glasses)
      clock.walk(.milliseconds(1500))
      let told = health.values.filter { [.unitsLost, .stallBegan, .keyframeRequested].contains($0.kind) }
      // Then again and again, for as long as none comes.
      #expect(told.first?.kind == .stallBegan && told.count >= 2)
      #expect(told.dropFirst().allSatisfy { $0.kind == .keyframeRequested })
      #expect(told.first?.hostNanoseconds == told.dropFirst().first?.hostNanoseconds)
      withExtendedLifetime(token) {}
      session.stop()
    }
  }

  @Test("STALL-4: a stream that goes on and off ends by one error when its budget is spent")
  func flapping() async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let stream = try await startedStream(in: session, configuration(15), clock).stream
      let watch = SilenceWatch(stream, clock)
      let health = Observed<StreamHealthEvent>()
      let token = stream.healthPublisher.listen { health.record($0) }
      for _ in 0..<60 where stream.state != .stopped {
        glasses.link.mute(.video)
        clock.walk(.milliseconds(1300))
        glasses.link.unmute(.video)
        clock.walk(.milliseconds(700))
      }
      #expect(stream.state == .stopped)
      #expect(watch.errors == [.timeout])
      #expect(watch.events.suffix(3) == [.error(.timeout), .state(.stopping), .state(.stopped)])
      #expect(watch.longestSilence <= .seconds(1))
      #expect((5...20).contains(stream.statistics.stalls))
      let failed = try #require(health.values.first { $0.kind == .failed })
      #expect(failed.error?.stage == .recovery)
      #expect(failed.error?.name == "stream.timeout")
      // The stall that was one too many has no time left, and says so.
      let stalls = health.values.filter { $0.kind == .stallBegan }
      #expect(stalls.dropLast().allSatisfy { $0.deadlineHostNanoseconds != nil })
      let last = try #require(stalls.last)
      #expect(last.deadlineHostNanoseconds == nil && last.description.hasSuffix("once too often"))
      #expect(health.values.suffix(3).map(\.kind) == [.stallBegan, .stallEnded, .failed])
      withExtendedLifetime(token) {}
      session.stop()
    }
  }

  @Test("STALL-4: stalls that are few and long end the stream by one error when they have lasted 30 s together")
  func longStalls() async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let stream = try await startedStream(in: session, configuration(15), clock).stream
      let watch = SilenceWatch(stream, clock)
      for _ in 0..<7 where stream.state != .stopped {
        glasses.link.mute(.video)
        clock.walk(.seconds(7))
        glasses.link.unmute(.video)
        clock.walk(.seconds(1))
      }
      #expect(watch.events.suffix(3) == [.error(.timeout), .state(.stopping), .state(.stopped)])
      #expect(watch.errors.count == 1)
      #expect(stream.statistics.stalls == 5)
      #expect((.milliseconds(29_900)...(.milliseconds(30_100))).contains(stream.statistics.stalledTime))
      session.stop()
    }
  }

  @Test("STALL-4: stalls that are far apart are borne for as long as they come")
  func rareStalls() async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let stream = try await startedStream(in: session, configuration(15), clock).stream
      let watch = SilenceWatch(stream, clock)
      for _ in 0..<15 {
        glasses.link.mute(.video)
        clock.walk(.milliseconds(2500))
        glasses.link.unmute(.video)
        clock.walk(.seconds(15))
      }
      #expect(stream.state == .streaming)
      #expect(watch.errors.isEmpty)
      #expect(stream.statistics.stalls == 15)
      session.stop()
    }
  }

  @Test("STALL-4: one stall ends in an error ten seconds after it was told, not before")
  func oneLongStall() async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let stream = try await startedStream(in: session, configuration(30), clock).stream
      let watch = SilenceWatch(stream, clock)
      glasses.link.mute(.video)
      clock.walk(.milliseconds(10_900))
      #expect(watch.errors.isEmpty)
      clock.walk(.milliseconds(200))
      #expect(watch.errors == [.timeout])
      #expect(stream.state == .stopped)
      let message = try #require(stream.lastFailure).message
      #expect(
        message.contains("recovery: the link answers, and no picture that can be shown came again within 10"),
        "\(message)")
      session.stop()
    }
  }

  @Test(
    "STALL-1: a stream of which nothing but keyframes arrives is not taken for a slow one when they stop, too",
    arguments: [Duration.seconds(1), .milliseconds(1900)])
  func lossyThenSilent(keyframeInterval: Duration) async throws {
    try await withGlassesByHand { glasses, clock in
      glasses.agent.faults.keyframeInterval = keyframeInterval
      let session = try startedSession(with: glasses, clock)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 24)
      let stream = try await startedStream(in: session, configuration, clock).stream
      let watch = SilenceWatch(stream, clock)
      clock.walk(.seconds(2))
      glasses.agent.faults.ignoresKeyframeRequests = true
      glasses.link.apply(.drop, to: .unit, .all, on: .video, syncOnly: false)
      clock.walk(.seconds(12))
      glasses.link.mute(.video)
      clock.walk(.seconds(8))
      #expect(watch.longestSilence <= .seconds(1))
      session.stop()
      clock.advance(by: .seconds(1))
    }
  }
}
