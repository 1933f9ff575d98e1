import Foundation
import Glasswing
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing

/// The paths that an app's developer walks through the camera, each from a fresh pair of glasses.
@Suite(.exclusive(.mockKit))
struct CameraPathTests {
  @Test(
    "each codec, size and rate is delivered as asked",
    arguments: [VideoCodec.raw, .hvc1], StreamingResolution.allCases)
  func deliversWhatWasAsked(codec: VideoCodec, resolution: StreamingResolution) async throws {
    try await withGlasses { glasses in
      let session = try await startedSession(with: glasses)
      for rate: UInt in [7, 15, 24, 30] {
        let configuration = StreamConfiguration(videoCodec: codec, resolution: resolution, frameRate: rate)
        let camera = try #require(try session.addCamera(config: configuration))
        let watched = WatchedStream(camera.stream)
        camera.stream.start()
        try await watched.wait(forFrames: 8)
        let frames = watched.frames.values
        let asked = resolution.videoFrameSize
        for frame in frames {
          #expect(frame.size.width == Int32(asked.width) && frame.size.height == Int32(asked.height))
          #expect(frame.isCompressed == (codec == .hvc1))
        }
        let spans = zip(frames, frames.dropFirst()).map { CMTimeGetSeconds($1.presentation - $0.presentation) }
        #expect(spans.allSatisfy { $0 > 0 })
        // Stamps are the capture's; a span is a whole number of intervals, whatever the machine was doing.
        let interval = 1 / Double(rate)
        #expect(spans.allSatisfy { $0 > interval * 0.5 }, "at \(rate) a second: \(spans)")
        camera.stop()
      }
    }
  }

  @Test("frames at 2 a second come one each half second")
  func slowestRate() async throws {
    try await withGlasses { glasses in
      let session = try await startedSession(with: glasses)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 2)
      let watched = WatchedStream(try #require(try session.addCamera(config: configuration)).stream)
      watched.stream.start()
      try await watched.wait(forFrames: 4)
      let frames = watched.frames.values
      for (a, b) in zip(frames, frames.dropFirst()) {
        #expect(abs(CMTimeGetSeconds(b.presentation - a.presentation) - 0.5) < 0.1)
      }
    }
  }

  @Test("the way to streaming is waitingForDevice, starting, streaming, and no frame comes before it")
  func stateOrder() async throws {
    try await withGlasses { glasses in
      let session = try await startedSession(with: glasses)
      let watched = WatchedStream(try #require(try session.addCamera()).stream)
      #expect(watched.stream.state == .stopped)
      watched.stream.start()
      try await watched.wait(for: .streaming)
      try await watched.wait(forFrames: 1)
      watched.stream.stop()
      try await watched.wait(for: .stopped)
      #expect(watched.states == [.waitingForDevice, .starting, .streaming, .stopping, .stopped])
      #expect(watched.errors.isEmpty)
    }
  }

  @Test("raw frames are 420v pictures that become images; compressed ones don't")
  func frameContents() async throws {
    try await withGlasses { glasses in
      let session = try await startedSession(with: glasses)
      let kinds: [(VideoCodec, Bool)] = [(.raw, true), (.hvc1, false)]
      for (codec, becomesImage) in kinds {
        let configuration = StreamConfiguration(videoCodec: codec, resolution: .low, frameRate: 30)
        let camera = try #require(try session.addCamera(config: configuration))
        let kept = Observed<VideoFrame>()
        let token = camera.stream.videoFramePublisher.listen { kept.record($0) }
        camera.stream.start()
        let frame = try await kept.first("a frame")
        let buffer = frame.sampleBuffer
        #expect(CMSampleBufferIsValid(buffer))
        let image = frame.makeUIImage()
        #expect((image != nil) == becomesImage)
        if codec == .raw {
          let pixels = try #require(CMSampleBufferGetImageBuffer(buffer))
          #expect(CVPixelBufferGetPixelFormatType(pixels) == kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
          #expect(image?.size.width == 360 && image?.size.height == 640)
        } else {
          let format = try #require(CMSampleBufferGetFormatDescription(buffer))
          #expect(CMFormatDescriptionGetMediaSubType(format) == kCMVideoCodecType_HEVC)
          #expect(CMSampleBufferGetDataBuffer(buffer).map { CMBlockBufferGetDataLength($0) } ?? 0 > 0)
        }
        await token.cancel()
        camera.stop()
      }
    }
  }

  @Test("an app without the camera's permission asks, and goes on when it is granted")
  func permission() async throws {
    try await withGlasses(config: MockDeviceKitConfig(initialPermissionsGranted: false)) { glasses in
      let wearables = Wearables.shared
      #expect(try await wearables.checkPermissionStatus(.camera) == .denied)
      let session = try await startedSession(with: glasses)
      let denied = WatchedStream(try #require(try session.addCamera()).stream)
      denied.stream.start()
      try await denied.wait(for: .stopped)
      #expect(denied.errors == [.permissionDenied])
      #expect(!denied.states.contains(.streaming))

      #expect(try await wearables.requestPermission(.camera) == .granted)
      let granted = WatchedStream(try #require(try session.addCamera()).stream)
      granted.stream.start()
      try await granted.wait(for: .streaming)
    }
  }

  @Test("a cleared bag hears nothing more while others go on")
  func tokenBag() async throws {
    try await withGlasses { glasses in
      let session = try await startedSession(with: glasses)
      let watched = WatchedStream(try #require(try session.addCamera()).stream)
      let bag = ListenerTokenBag()
      let other = Observed<CMTime>()
      watched.stream.videoFramePublisher.listen {
        other.record(CMSampleBufferGetPresentationTimeStamp($0.sampleBuffer))
      }.store(in: bag)
      watched.stream.start()
      try await other.wait("frames") { $0.count >= 3 }
      await bag.cancelAll()
      let heard = other.values.count
      let seen = watched.frames.values.count
      try await watched.wait(forFrames: seen + 5)
      #expect(other.values.count == heard)
    }
  }

  @Test("stopping the stream leaves the camera; it starts again in the same session")
  func restart() async throws {
    try await withGlasses { glasses in
      let session = try await startedSession(with: glasses)
      let camera = try #require(try session.addCamera())
      let watched = WatchedStream(camera.stream)
      for round in 1...3 {
        camera.stream.start()
        try await watched.wait(for: .streaming)
        camera.stream.stop()
        try await watched.wait(for: .stopped)
        #expect(watched.states.filter { $0 == .stopped }.count == round)
        #expect(camera.state == .started)
      }
      #expect(throws: DeviceSessionError.capabilityAlreadyActive) { try session.addCamera() }
      camera.stop()
      let next = WatchedStream(try #require(try session.addCamera()).stream)
      next.stream.start()
      try await next.wait(for: .streaming)
      #expect(session.state == .started)
    }
  }

  @Test("stopping the session stops camera and stream, in silence")
  func cascade() async throws {
    try await withGlasses { glasses in
      let session = try await startedSession(with: glasses)
      let camera = try #require(try session.addCamera())
      let watched = WatchedStream(camera.stream)
      let cameraStates = Observed<CameraState>()
      let token = camera.statePublisher.listen { cameraStates.record($0) }
      let states = session.stateStream()
      watched.stream.start()
      try await watched.wait(for: .streaming)
      session.stop()
      var seen: [DeviceSessionState] = []
      for await state in states { seen.append(state) }  // finishes with the session
      try await watched.wait(for: .stopped)
      try await cameraStates.wait("a stopped camera") { $0.last == .stopped }
      #expect(seen.suffix(2) == [.stopping, .stopped])
      #expect(watched.errors.isEmpty)
      #expect(try session.addCamera() == nil)
      await token.cancel()
    }
  }

  @Test("folding ends session and stream with an error that says so; a new session can start")
  func fold() async throws {
    try await withGlasses { glasses in
      let session = try await startedSession(with: glasses)
      let errors = Observed<DeviceSessionError>()
      let token = session.errorPublisher.listen { errors.record($0) }
      let watched = WatchedStream(try #require(try session.addCamera()).stream)
      watched.stream.start()
      try await watched.wait(for: .streaming)
      let states = session.stateStream()
      glasses.fold()
      for await _ in states {}
      try await watched.wait(for: .stopped)
      #expect(watched.errors == [.hingesClosed])
      #expect(try await errors.first() == .unexpectedError(description: "Session ended by device"))
      await token.cancel()

      let next = try await startedSession(with: glasses)
      #expect(next.state == .started)
    }
  }

  @Test("a tap pauses session and stream, another resumes both")
  func tap() async throws {
    try await withGlasses { glasses in
      let session = try await startedSession(with: glasses)
      let watched = WatchedStream(try #require(try session.addCamera()).stream)
      watched.stream.start()
      try await watched.wait(for: .streaming)
      try await watched.wait(forFrames: 3)
      glasses.services.captouch.tap()
      try await watched.wait(for: .paused)
      #expect(session.state == .paused)
      #expect(watched.stream.capturePhoto(format: .jpeg) == false)
      let seen = watched.frames.values.count
      glasses.services.captouch.tap()
      try await watched.wait(for: .streaming)
      try await watched.wait(forFrames: seen + 3)
      let stamps = watched.frames.values.map(\.presentation)
      #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
      #expect(watched.errors.isEmpty)
    }
  }
}
