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

/// Presentation times: one base, the host's monotonic clock, whatever the glasses' clock and the link do.
@Suite(.exclusive(.mockKit))
struct StampTests {
  static let clocks: [DeviceClock] = [
    .identity,
    DeviceClock(offset: .seconds(36_000), partsPerMillion: 300),
    DeviceClock(offset: .seconds(-36_000), partsPerMillion: -300),
    // Passes through zero while the stream runs.
    DeviceClock(offset: .seconds(-20), partsPerMillion: 300),
  ]

  private struct Stamped: Sendable {
    let presentation: Instant
    let delivered: Instant
  }

  private func listen(
    to stream: MWDATCamera.Stream, _ clock: ManualTimekeeper, _ tokens: ListenerTokenBag
  ) -> Observed<Stamped> {
    let frames = Observed<Stamped>()
    stream.videoFramePublisher.listen { frame in
      let time = CMSampleBufferGetPresentationTimeStamp(frame.sampleBuffer)
      #expect(time.timescale == 1_000_000_000 && time.isNumeric)
      frames.record(Stamped(presentation: Instant(nanoseconds: time.value), delivered: clock.now))
    }.store(in: tokens)
    return frames
  }

  private let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)

  @Test(
    "SYNC-1: stamps are capture times on the host's clock, whatever clock the glasses have, near or far",
    arguments: clocks, [Duration.zero, .milliseconds(25)])
  func hostClock(deviceClock: DeviceClock, latency: Duration) async throws {
    try await withGlassesByHand(deviceClock: deviceClock) { glasses, clock in
      let tape = SentTape(glasses, clock)
      for direction in LinkConditioner.Direction.allCases { glasses.link.setLatency(latency, direction) }
      let session = try startedSession(with: glasses, clock)
      let tokens = ListenerTokenBag()
      let camera = try #require(try session.addCamera(config: configuration))
      let frames = listen(to: camera.stream, clock, tokens)
      try await start(camera.stream, clock)
      clock.advance(by: .seconds(60))
      let sent = tape.entries
      #expect(frames.values.count > 880)
      for (frame, entry) in zip(frames.values, sent) {
        let error = (frame.presentation - entry.time).milliseconds.magnitude
        #expect(error <= 1, "a stamp is \(error) ms off")
        #expect(frame.presentation <= frame.delivered)
      }
      let stamps = frames.values.map(\.presentation)
      #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
    }
  }

  @Test(
    "SYNC-3: stamps rise strictly also where the glasses' clock does not keep time and is aligned anew",
    arguments: [80_000, -80_000] as [Double])
  func badClock(partsPerMillion: Double) async throws {
    let deviceClock = DeviceClock(offset: .seconds(500), partsPerMillion: partsPerMillion)
    try await withGlassesByHand(deviceClock: deviceClock) { glasses, clock in
      for direction in LinkConditioner.Direction.allCases {
        glasses.link.setLatency(.milliseconds(20), jitter: .milliseconds(20), direction)
      }
      let session = try startedSession(with: glasses, clock)
      let tokens = ListenerTokenBag()
      let camera = try #require(try session.addCamera(config: configuration))
      let health = Observed<StreamHealthEvent>()
      camera.stream.healthPublisher.listen { health.record($0) }.store(in: tokens)
      let frames = listen(to: camera.stream, clock, tokens)
      try await start(camera.stream, clock)
      // Bursts, too: what waits comes at one moment.
      for _ in 0..<10 {
        clock.advance(by: .seconds(3))
        glasses.link.hold(.toApp)
        clock.advance(by: .milliseconds(300))
        glasses.link.release(.toApp)
      }
      clock.advance(by: .seconds(1))
      let stamps = frames.values.map(\.presentation)
      #expect(stamps.count > 400)
      #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
      #expect(frames.values.allSatisfy { $0.presentation <= $0.delivered + .milliseconds(1) })
      #expect(health.values.contains { $0.kind == .clockRealigned })
      session.stop()
    }
  }

  @Test("SYNC-1: a photo's capture time is that of the frame which shows the same picture", arguments: clocks)
  func photo(deviceClock: DeviceClock) async throws {
    try await withGlassesByHand(deviceClock: deviceClock) { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let tokens = ListenerTokenBag()
      let camera = try #require(try session.addCamera(config: configuration))
      let photos = Observed<PhotoData>()
      camera.stream.photoDataPublisher.listen { photos.record($0) }.store(in: tokens)
      let frames = listen(to: camera.stream, clock, tokens)
      try await start(camera.stream, clock)
      // Between two frames, so that the moment of the request is another than that of the picture.
      clock.advance(by: .milliseconds(3370))
      let asked = clock.now
      #expect(camera.stream.capturePhoto(format: .jpeg))
      clock.advance(by: .seconds(1))
      let details = try #require(photos.values.first?.details)
      let captured = Instant(nanoseconds: details.hostNanoseconds)
      #expect(details.captureTime == CMTime(value: captured.nanoseconds, timescale: 1_000_000_000))
      #expect(captured <= asked + .milliseconds(1) && asked - captured <= .milliseconds(70))
      let nearest = frames.values.map { abs(($0.presentation - captured).milliseconds) }.min() ?? .infinity
      #expect(nearest <= 1, "the nearest frame is \(nearest) ms away")

      // Apart from a stream as well.
      camera.stream.stop()
      clock.advance(by: .seconds(1))
      let alone = Observed<PhotoCaptureData>()
      camera.photo.photoDataPublisher.listen { alone.record($0) }.store(in: tokens)
      camera.photo.start()
      let began = clock.now
      for _ in 0..<10_000 where alone.values.isEmpty {
        clock.advance(by: .microseconds(200))
        camera.photo.capturePhoto()
        await Task.yield()
      }
      let single = try #require(alone.values.first?.details)
      let doubt: Duration = .milliseconds(1)
      let taken = Instant(nanoseconds: single.hostNanoseconds)
      #expect(taken >= began - doubt && taken <= clock.now + doubt)
    }
  }

  @Test("SYNC-1: the base stays the same from session to session and from glasses to glasses of one process")
  func sameBase() async throws {
    try await withGlassesByHand(deviceClock: Self.clocks[1]) { first, clock in
      let second = try MockKit.shared.pairGlasses(model: .rayBanMeta, deviceClock: Self.clocks[2])
      second.powerOn()
      second.don()
      var last = Instant.distantPast
      for glasses in [first, second, first] {
        let tape = SentTape(glasses, clock)
        let session = try startedSession(with: glasses, clock)
        let tokens = ListenerTokenBag()
        let camera = try #require(try session.addCamera(config: configuration))
        let frames = listen(to: camera.stream, clock, tokens)
        try await start(camera.stream, clock)
        clock.advance(by: .seconds(2))
        session.stop()
        clock.advance(by: .seconds(1))
        #expect(frames.values.count > 25)
        for (frame, entry) in zip(frames.values, tape.entries) {
          #expect((frame.presentation - entry.time).milliseconds.magnitude <= 1)
        }
        #expect(try #require(frames.values.first).presentation > last)
        last = try #require(frames.values.last).presentation
      }
    }
  }

  @Test("SYNC-1: in real time, stamps of one kit and of the next are on the host clock that the media types have")
  func realTime() async throws {
    let hostClock = CMClockGetHostTimeClock()
    for _ in 0..<2 {
      let before = CMClockGetTime(hostClock)
      try await withGlasses { glasses in
        let session = try await startedSession(with: glasses)
        let watched = WatchedStream(try #require(try session.addCamera(config: configuration)).stream)
        watched.stream.start()
        try await watched.wait(forFrames: 5)
        let after = CMClockGetTime(hostClock)
        let stamps = watched.frames.values.map(\.presentation)
        #expect(stamps.allSatisfy { before < $0 && $0 <= after })
        let date = try #require(watched.stream.wallClockTime(of: stamps[0]))
        let age = CMTimeGetSeconds(CMClockGetTime(hostClock) - stamps[0])
        #expect(abs(Date().timeIntervalSince(date) - age) < 1)
      }
    }
  }

  @Test("SYNC-1: the date of a stamp is available, and moves with the wall clock alone")
  func wallClock() async throws {
    try await withGlassesByHand(deviceClock: Self.clocks[1]) { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let stream = try #require(try session.addCamera(config: configuration)).stream
      // By hand the clock starts at 1 s, which is the first moment of 2026.
      let date = stream.wallClockTime(of: CMTime(value: 3500, timescale: 1000))
      #expect(date == Date(timeIntervalSince1970: 1_767_225_602.5))
      clock.advance(by: .seconds(100))
      let later = try #require(stream.wallClockTime(of: CMTime(value: 3500, timescale: 1000)))
      #expect(abs(later.timeIntervalSince1970 - 1_767_225_602.5) < 1e-6)
      #expect(stream.wallClockTime(of: .invalid) == nil)
      #expect(stream.wallClockTime(of: .positiveInfinity) == nil)
    }
  }

  @Test(
    "SYNC-3: stamps rise strictly however bursty delivery is, and a recording lasts from its first to its last frame and one more",
    arguments: [UInt64(41), 42, 43])
  func bursts(seed: UInt64) async throws {
    let file = URL(fileURLWithPath: try MediaFactory.newPath("mp4"))
    try await withGlassesByHand(seed: seed) { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let tokens = ListenerTokenBag()
      let camera = try #require(try session.addCamera(config: configuration))
      let frames = listen(to: camera.stream, clock, tokens)
      var options = Recorder.Options()
      // Seconds of the simulation come at once.
      options.queueSpan = .seconds(120)
      let recorder = try Recorder(to: file, options: options)
      try recorder.record(camera.stream)
      try await start(camera.stream, clock)
      glasses.link.setLatency(.milliseconds(20), jitter: .milliseconds(60))
      var random = SeededGenerator(seed: seed)
      for _ in 0..<20 {
        glasses.link.hold(.toApp)
        clock.advance(by: .milliseconds(Int.random(in: 50...450, using: &random)))
        glasses.link.release(.toApp)
        clock.advance(by: .milliseconds(Int.random(in: 0...400, using: &random)))
      }
      clock.advance(by: .seconds(1))
      let stamps = frames.values.map(\.presentation)
      #expect(stamps.count > 100)
      #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
      // They are captures' and not arrivals': no two are nearer than the source has them, but for what a link that is
      // late by turns leaves in doubt.
      let nearest = zip(stamps, stamps.dropFirst()).map { ($1 - $0).milliseconds }.min() ?? 0
      #expect(nearest > 20)
      let delivered = frames.values.map(\.delivered)
      #expect(zip(delivered, delivered.dropFirst()).contains { $0 == $1 }, "nothing came in a burst")

      _ = try await recorder.finish()
      let written = try MediaInspector.stamps(file.path)
      #expect(zip(written, written.dropFirst()).allSatisfy { $0 < $1 })
      let expected = (try #require(stamps.last) - (try #require(stamps.first))).seconds + 1.0 / 15
      let measured = try #require(try MediaInspector.duration(file.path))
      #expect(abs(measured - expected) <= 1.0 / 15 + 0.001, "\(measured) s, not \(expected)")
      #expect(try MediaInspector.complaints(file.path) == "")
    }
  }

  private func start(_ stream: MWDATCamera.Stream, _ clock: ManualTimekeeper) async throws {
    stream.start()
    for _ in 0..<10_000 where stream.state != .streaming {
      clock.advance(by: .microseconds(200))
      await Task.yield()
    }
    try #require(stream.state == .streaming)
  }
}
