import Foundation
import Glasswing
import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// A session with a compressed stream that runs and is recorded, on a clock moved by hand.
struct Scene: Sendable {
  let glasses: SimulatedGlasses
  let clock: ManualTimekeeper
  let session: DeviceSession
  let camera: Camera
  let stream: WatchedStream
  let recorder: Recorder

  static func run(_ test: @Sendable (Scene) async throws -> Void) async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)
      let camera = try #require(try session.addCamera(config: configuration))
      let stream = WatchedStream(camera.stream)
      let recorder = try Recorder(
        to: URL(fileURLWithPath: try MediaFactory.newPath("mp4")), options: Recorder.Options(), timekeeper: clock)
      try recorder.record(camera.stream)
      camera.stream.start()
      clock.advance(by: .seconds(1))
      #expect(camera.stream.state == .streaming)
      try await test(
        Scene(
          glasses: glasses, clock: clock, session: session, camera: camera, stream: stream, recorder: recorder))
    }
  }

  /// True when the call has come to its end before so much of the clock's time has passed.
  ///
  /// The clock moves in small steps, between which the call's task gets on; when the time is up it stands still, and
  /// the task is given real time to get to its end.
  func ends(within bound: Duration, _ call: @escaping @Sendable () async -> Void) async -> Bool {
    let ended = Observed<Bool>()
    let task = Task.immediate {
      await call()
      ended.record(true)
    }
    let deadline = clock.now + bound
    while ended.values.isEmpty, clock.now < deadline {
      clock.advance(by: .milliseconds(20))
      await Task.yield()
    }
    let isEnded = (try? await ended.first("the end", within: .seconds(5))) != nil
    if !isEnded { task.cancel() }
    return isEnded
  }
}
