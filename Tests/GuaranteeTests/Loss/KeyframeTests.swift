import Glasswing
import LinkProtocol
import MWDATCamera
import MWDATCore
import TestSupport
import Testing
import Units

/// Keyframes that somebody asks for, and listeners that come late.
@Suite(.exclusive(.mockKit))
struct KeyframeTests {
  @Test(
    "LOSS-5: requestKeyframe() brings a keyframe within a frame and a round trip",
    arguments: [Duration.zero, .milliseconds(40)])
  func onRequest(latency: Duration) async throws {
    try await LossRun.with(LossCase(codec: .hvc1, latency: latency, keyframeInterval: .seconds(3))) { run in
      let start = run.clock.now
      run.stream.requestKeyframe()
      run.clock.advance(by: .seconds(1))
      let keyframe = try #require(run.frames.values.first { $0.isKeyframe && $0.delivered >= start })
      #expect(keyframe.delivered - start <= LossRun.interval + latency * 2 + .milliseconds(1))
      #expect(!keyframe.isDiscontinuity)
      #expect(run.health.values.filter { $0.kind == .keyframeRequested }.map(\.text) == ["application"])
      try run.expectCleanRecovery()
    }
  }

  @Test("LOSS-5: requestKeyframe() right after another that was answered is answered too")
  func twice() async throws {
    try await LossRun.with(LossCase(codec: .hvc1, keyframeInterval: .seconds(3))) { run in
      let start = run.clock.now
      run.stream.requestKeyframe()
      run.clock.advance(by: .milliseconds(60))
      #expect(run.frames.values.filter { $0.isKeyframe && $0.delivered >= start }.count == 1)
      run.stream.requestKeyframe()
      run.clock.advance(by: .milliseconds(200))
      #expect(run.frames.values.filter { $0.isKeyframe && $0.delivered >= start }.count == 2)
      // And a hundred at once are one.
      for _ in 0..<100 { run.stream.requestKeyframe() }
      run.clock.advance(by: .milliseconds(400))
      #expect(run.frames.values.filter { $0.isKeyframe && $0.delivered >= start }.count == 3)
    }
  }

  @Test("LOSS-5: a request that is ignored is repeated, at most ten times a second, until the source's own keyframe")
  func ignored() async throws {
    let test = LossCase(codec: .hvc1, honoursRequests: false, keyframeInterval: .seconds(3))
    try await LossRun.with(test) { run in
      let start = run.clock.now
      run.stream.requestKeyframe()
      run.clock.advance(by: .seconds(4))
      let keyframe = try #require(run.frames.values.first { $0.isKeyframe && $0.delivered >= start })
      let requests = run.health.values.filter { $0.kind == .keyframeRequested }
        .map { Instant(nanoseconds: $0.hostNanoseconds) }
      #expect((3...6).contains(requests.count))
      #expect(requests.allSatisfy { $0 <= keyframe.delivered })
      #expect(zip(requests, requests.dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(100) })
    }
  }

  @Test("LOSS-5: a listener that comes late begins with a keyframe within a second", arguments: LossCase.all)
  func lateListener(test: LossCase) async throws {
    var test = test
    // Of a source that ignores requests none is to be expected.
    if !test.honoursRequests { test.keyframeInterval = .seconds(20) }
    try await LossRun.with(test) { run in
      run.clock.advance(by: .milliseconds(333))
      let late = Observed<VideoFrame>()
      let start = run.clock.now
      let seen = Observed<Instant>()
      let clock = run.clock
      let token = run.stream.videoFramePublisher.listen {
        late.record($0)
        seen.record(clock.now)
      }
      run.clock.advance(by: .seconds(1))
      #expect(late.values.first?.isKeyframe == true)
      #expect(late.values.first?.isDiscontinuity == false)
      #expect(try #require(seen.values.first) - start <= .seconds(1))
      // The others lose nothing by it.
      run.clock.advance(by: .seconds(1))
      try run.expectCleanRecovery()
      let marked = run.frames.values.filter(\.isDiscontinuity)
      #expect(marked.isEmpty)
      withExtendedLifetime(token) {}
    }
  }

  @Test(
    "LOSS-5, STALL-1: the first listener, in the middle of a long group of pictures, has the right ones within a second, requests honoured or not, and no stall",
    arguments: [VideoCodec.raw, .hvc1], [true, false])
  func firstListener(codec: VideoCodec, honoursRequests: Bool) async throws {
    let test = LossCase(codec: codec, honoursRequests: honoursRequests, keyframeInterval: .seconds(20))
    try await LossRun.with(test, listens: false) { run in
      run.clock.advance(by: .milliseconds(1500))
      let start = run.clock.now
      try run.listenToFrames()
      run.clock.advance(by: .milliseconds(1500))
      let frames = run.frames.values
      let first = try #require(frames.first)
      #expect(first.isKeyframe && !frames.contains { $0.isDiscontinuity })
      // Decoded pictures are of the present. Compressed ones begin with the keyframe that they depend on, and the glasses
      // are given half a second to make a new one.
      let isReplayed = codec == .hvc1 && !honoursRequests
      #expect(first.delivered - start <= (isReplayed ? .milliseconds(500) : .zero) + LossRun.interval * 2)
      let entries = run.tape.entries
      let places = frames.compactMap { SentTape.index(of: $0.presentation, in: entries) }
      #expect(first.presentation >= start || isReplayed && places.first == 0)
      #expect(places == Array((places.first ?? 0)..<entries.count))
      #expect(try run.wrongFrames().isEmpty)
      try run.expectRunning()
      let statistics = run.stream.statistics
      #expect(statistics.stalls == 0 && statistics.drops.listeners == 0 && statistics.drops.undecodable == 0)
      #expect(run.states.values == [.waitingForDevice, .starting, .streaming])
    }
  }
}
