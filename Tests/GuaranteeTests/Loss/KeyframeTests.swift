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
    // A source that ignores requests has to send one a second by itself, for nothing else can bring it.
    if !test.honoursRequests { test.keyframeInterval = .seconds(1) }
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
}
