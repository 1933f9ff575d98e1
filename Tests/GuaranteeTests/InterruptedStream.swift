import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// A running stream, what its session announces, and the frames with their marks.
struct InterruptedStream {
  static let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 24)

  struct Frame: Sendable {
    let presentation: Instant
    let arrived: Instant
    let isSync: Bool
    let isDiscontinuity: Bool
  }

  let glasses: SimulatedGlasses
  let clock: ManualTimekeeper
  let session: DeviceSession
  let camera: Camera
  let watched: WatchedStream
  let frames: Observed<Frame>
  let sessionStates: Observed<DeviceSessionState>
  let sessionErrors: Observed<DeviceSessionError>
  let tokens: ListenerTokenBag

  func hold(_ directions: [LinkConditioner.Direction] = LinkConditioner.Direction.allCases) {
    for direction in directions { glasses.link.hold(direction) }
  }

  func release(_ directions: [LinkConditioner.Direction] = LinkConditioner.Direction.allCases) {
    for direction in directions { glasses.link.release(direction) }
  }

  /// Nothing gets through for so long.
  func interrupt(for length: Duration, _ directions: [LinkConditioner.Direction] = LinkConditioner.Direction.allCases) {
    hold(directions)
    clock.advance(by: length)
    release(directions)
  }

  /// The stream streams, and what it brings is of now and complete.
  func expectLive(_ location: SourceLocation = #_sourceLocation) {
    #expect(watched.stream.state == .streaming, sourceLocation: location)
    let before = frames.values.count
    clock.advance(by: .seconds(1))
    let fresh = frames.values.dropFirst(before)
    #expect((23...25).contains(fresh.count), "\(fresh.count) frames", sourceLocation: location)
    #expect(fresh.allSatisfy { $0.arrived - $0.presentation < .milliseconds(100) }, sourceLocation: location)
    let all = frames.values
    #expect(
      zip(all, all.dropFirst()).allSatisfy { $0.presentation < $1.presentation }, sourceLocation: location)
  }

  /// The permission is asked for in a task, which runs when it likes: the clock goes in small steps until it has.
  func reach(_ state: StreamState) async throws {
    for _ in 0..<10_000 where camera.stream.state != state {
      clock.advance(by: .microseconds(100))
      await Task.yield()
    }
    #expect(camera.stream.state == state)
  }
}

/// A session with a camera on a clock by hand, whose stream streams for two seconds unless it shall not.
func withInterruptedStream(
  streaming: Bool = true, _ test: (InterruptedStream) async throws -> Void
) async throws {
  try await withGlassesByHand { glasses, clock in
    let session = try startedSession(with: glasses, clock)
    let camera = try #require(try session.addCamera(config: InterruptedStream.configuration))
    let running = InterruptedStream(
      glasses: glasses, clock: clock, session: session, camera: camera, watched: WatchedStream(camera.stream),
      frames: Observed(), sessionStates: Observed(), sessionErrors: Observed(), tokens: ListenerTokenBag())
    camera.stream.videoFramePublisher.listen { [frames = running.frames] frame in
      let stamp = CMSampleBufferGetPresentationTimeStamp(frame.sampleBuffer)
      frames.record(
        InterruptedStream.Frame(
          presentation: Instant(nanoseconds: stamp.value), arrived: clock.now, isSync: frame.isSync,
          isDiscontinuity: frame.isDiscontinuity))
    }.store(in: running.tokens)
    session.statePublisher.listen { [states = running.sessionStates] in states.record($0) }.store(in: running.tokens)
    session.errorPublisher.listen { [errors = running.sessionErrors] in errors.record($0) }.store(in: running.tokens)
    if streaming {
      camera.stream.start()
      try await running.reach(.streaming)
      clock.advance(by: .seconds(2))
    }
    try await test(running)
    session.stop()
    clock.advance(by: .seconds(2))
  }
}
