import LinkProtocol
import MWDATCamera
import MWDATCore
import TestSupport
import Testing

@testable import MWDATMockDevice

@Suite("Streams of simulated glasses", .exclusive(.mockKit))
struct StreamPathTests {
  @Test("a compressed stream starts, carries frames from a sync sample on, and stops")
  func compressed() throws {
    let world = try CameraWorld()
    world.start()
    #expect(world.states.values == [.waitingForDevice, .starting, .streaming])
    let first = try #require(world.frames.values.first)
    let format = try #require(CMSampleBufferGetFormatDescription(first.sampleBuffer))
    #expect(CMVideoFormatDescriptionGetDimensions(format).width == 360)
    #expect(CMVideoFormatDescriptionGetDimensions(format).height == 640)
    #expect(first.isSync)
    #expect(first.makeUIImage() == nil)
    world.time.advance(by: .seconds(3))
    #expect((58...62).contains(world.frames.values.count))
    #expect(zip(world.stamps, world.stamps.dropFirst()).allSatisfy { $0 < $1 })
    world.stream.stop()
    world.time.advance(by: .seconds(2))
    #expect(world.states.values.suffix(2) == [.stopping, .stopped])
    #expect(world.camera.state == .started)
    #expect(world.errors.values.isEmpty)
    world.end()
  }

  @Test("a raw stream carries decoded 420v pictures of the size asked for")
  func decoded() throws {
    let world = try CameraWorld(CameraWorld.decoded)
    world.start()
    print(world.log.values)
    let frame = try #require(world.frames.values.last)
    let buffer = try #require(CMSampleBufferGetImageBuffer(frame.sampleBuffer))
    #expect(CVPixelBufferGetWidth(buffer) == 360)
    #expect(CVPixelBufferGetHeight(buffer) == 640)
    #expect(CVPixelBufferGetPixelFormatType(buffer) == kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
    #expect(frame.makeUIImage() != nil)
    world.end()
  }

  @Test(
    "every size and rate is delivered as asked (PERF-1)",
    arguments: [
      (StreamingResolution.high, 15), (.medium, 24), (.low, 30), (.low, 7), (.medium, 2),
    ] as [(StreamingResolution, UInt)])
  func sizesAndRates(resolution: StreamingResolution, rate: UInt) throws {
    let world = try CameraWorld(
      StreamConfiguration(videoCodec: .hvc1, resolution: resolution, frameRate: rate))
    world.stream.start()
    world.time.advance(by: .seconds(4))
    let before = world.frames.values.count
    world.time.advance(by: .seconds(10))
    let delivered = world.frames.values.count - before
    #expect(abs(Double(delivered) - 10 * Double(rate)) <= max(1, 0.3 * Double(rate)))
    let format = try #require(world.frames.values.last?.sampleBuffer.formatDescription)
    let size = CMVideoFormatDescriptionGetDimensions(format)
    #expect(UInt(size.width) == resolution.videoFrameSize.width)
    #expect(UInt(size.height) == resolution.videoFrameSize.height)
    let gaps = zip(world.stamps.dropFirst(), world.stamps).map { $0 - $1 }
    #expect(gaps.allSatisfy { $0 <= 2_100_000_000 / Int64(rate) })
    world.end()
  }

  @Test("a stream stopped by its app starts again, in the same session")
  func restart() throws {
    let world = try CameraWorld()
    for _ in 0..<3 {
      world.start()
      #expect(world.stream.state == .streaming)
      world.stream.stop()
      world.time.advance(by: .seconds(2))
      #expect(world.stream.state == .stopped)
    }
    #expect(world.errors.values.isEmpty)
    #expect(zip(world.stamps, world.stamps.dropFirst()).allSatisfy { $0 < $1 })
    world.end()
  }

  @Test("stamps are capture times on the host's clock, whatever clock the glasses have (SYNC-1)")
  func clocks() throws {
    let world = try CameraWorld(clock: DeviceClock(offset: .seconds(123_456), partsPerMillion: 300))
    world.start()
    world.time.advance(by: .seconds(60))
    let last = try #require(world.stamps.last)
    let age = world.time.now.nanoseconds - last
    #expect((0...100_000_000).contains(age))
    world.end()
  }

  @Test("a tap pauses the stream at once and the next resumes it; the camera stays")
  func pause() throws {
    let world = try CameraWorld()
    world.start()
    world.glasses.services.captouch.tap()
    world.time.advance(by: .milliseconds(50))
    #expect(world.session.state == .paused)
    #expect(world.stream.state == .paused)
    let count = world.frames.values.count
    world.time.advance(by: .seconds(20))
    #expect(world.frames.values.count == count)
    #expect(world.camera.state == .started)
    #expect(!world.stream.capturePhoto(format: .jpeg))
    world.glasses.services.captouch.tap()
    world.time.advance(by: .seconds(1))
    #expect(world.session.state == .started)
    #expect(world.stream.state == .streaming)
    #expect(world.frames.values.count > count)
    #expect(world.errors.values.isEmpty)
    world.end()
  }

  @Test("folding announces the closed hinge, then everything stops; the glasses stay and serve a new session")
  func fold() throws {
    let world = try CameraWorld()
    world.start()
    world.glasses.fold()
    world.time.advance(by: .seconds(2))
    #expect(world.errors.values == [.hingesClosed])
    #expect(world.sessionErrors.values == [.unexpectedError(description: "Session ended by device")])
    #expect(world.session.state == .stopped)
    #expect(world.camera.state == .stopped)
    #expect(world.log.values.suffix(2).last == "stopped")
    let error = try #require(world.log.values.firstIndex(of: "error hingesClosed"))
    let stopped = try #require(world.log.values.lastIndex(of: "stopped"))
    #expect(error < stopped)

    let next = try Wearables.shared.createSession(
      deviceSelector: SpecificDeviceSelector(device: world.glasses.deviceIdentifier))
    try next.start()
    world.time.settle()
    let camera = try #require(try next.addCamera(config: CameraWorld.compressed))
    world.listen(to: camera.stream)
    camera.stream.start()
    world.time.advance(by: .seconds(1))
    #expect(camera.stream.state == .streaming)
    world.end()
  }

  @Test("taking the glasses off and putting them on changes nothing in the stream")
  func doffAndDon() throws {
    let world = try CameraWorld()
    world.start()
    let count = world.states.values.count
    world.glasses.doff()
    world.time.advance(by: .seconds(2))
    world.glasses.don()
    world.time.advance(by: .seconds(2))
    #expect(world.states.values.count == count)
    #expect(world.stream.state == .streaming)
    world.end()
  }

  @Test("what ends the session ends camera and stream with it, each stopped once (LIFE-2)", arguments: 0..<5)
  func cascade(way: Int) throws {
    let world = try CameraWorld()
    world.start()
    switch way {
    case 0: world.session.stop()
    case 1: world.glasses.powerOff()
    case 2: world.glasses.services.captouch.tapAndHold()
    case 3: MockDeviceKit.shared.unpairDevice(world.glasses)
    default: MockDeviceKit.shared.disable()
    }
    world.time.advance(by: .seconds(2))
    #expect(world.session.state == .stopped)
    #expect(world.camera.state == .stopped)
    #expect(world.stream.state == .stopped)
    #expect(world.states.values.filter { $0 == .stopped }.count == 1)
    #expect(world.sessionStates.values.filter { $0 == .stopped }.count == 1)
    #expect(world.glasses.agent.sessionCount == 0)
    if way == 0 {
      #expect(world.errors.values.isEmpty)
      #expect(world.sessionErrors.values.isEmpty)
    }
    world.end()
  }

  @Test("stopping the camera leaves the session, which takes another camera")
  func cameraStops() throws {
    let world = try CameraWorld()
    world.start()
    #expect(throws: DeviceSessionError.capabilityAlreadyActive) { try world.session.addCamera() }
    world.camera.stop()
    world.time.advance(by: .seconds(2))
    #expect(world.stream.state == .stopped)
    #expect(world.session.state == .started)
    let camera = try #require(try world.session.addCamera(config: CameraWorld.decoded))
    world.listen(to: camera.stream)
    camera.stream.start()
    world.time.advance(by: .seconds(1))
    #expect(camera.stream.state == .streaming)
    world.end()
  }

  @Test("a denied camera ends the start with the error, and a grant is enough for the next (PERM-2)")
  func permission() throws {
    let world = try CameraWorld()
    MockDeviceKit.shared.permissions.set(.camera, .denied)
    world.start()
    #expect(world.errors.values == [.permissionDenied])
    #expect(world.stream.state == .stopped)
    #expect(world.frames.values.isEmpty)
    #expect(!world.states.values.contains(.streaming))
    MockDeviceKit.shared.permissions.set(.camera, .granted)
    let camera = try #require(try world.session.addCamera(config: CameraWorld.compressed))
    world.listen(to: camera.stream)
    camera.stream.start()
    world.time.advance(by: .seconds(1))
    #expect(camera.stream.state == .streaming)
    world.end()
  }

  @Test("heat and an empty battery end the stream by their names, and the session stays")
  func condition() throws {
    let conditions: [(StreamError, @Sendable (any MockGlasses) -> Void)] = [
      (.thermalHot, { $0.setThermalLevel(.severe) }), (.batteryLow, { $0.setBatteryLevel(5) }),
    ]
    for (error, action) in conditions {
      let world = try CameraWorld()
      world.start()
      action(world.glasses)
      world.time.advance(by: .seconds(2))
      #expect(world.errors.values == [error])
      #expect(world.stream.state == .stopped)
      #expect(world.session.state == .started)
      world.end()
    }
  }
}
