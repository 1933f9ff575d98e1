import Foundation
import GlassesAgent
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Units
import Testing

/// The same as an app's own tests have it: the kit's default clock, everything awaited.
@Suite("Simulated glasses in real time", .exclusive(.mockKit), .exclusive(.processor))
struct RealTimePathTests {
  @Test(
    "register, permit, stream and stop, as an app does", arguments: [MWDATCamera.VideoCodec.raw, .hvc1])
  func wholeWay(codec: MWDATCamera.VideoCodec) async throws {
    MockDeviceKit.shared.enable(config: MockDeviceKitConfig(initiallyRegistered: false))
    let wearables = Wearables.shared
    let glasses = try MockDeviceKit.shared.pairGlasses(model: .rayBanMeta)
    glasses.powerOn()
    glasses.don()
    try await wearables.startRegistration()
    let selector = AutoDeviceSelector(wearables: wearables)
    for await device in selector.activeDeviceStream() where device != nil { break }
    let before = try await wearables.checkPermissionStatus(.camera)
    #expect(before == .denied)
    let answer = try await wearables.requestPermission(.camera)
    #expect(answer == .granted)

    let tokens = ListenerTokenBag()
    let session = try wearables.createSession(deviceSelector: selector)
    let sessionStates = session.stateStream()
    try session.start()
    for await state in sessionStates where state == .started { break }
    let camera = try #require(
      try session.addCamera(
        config: StreamConfiguration(videoCodec: codec, resolution: .medium, frameRate: 24)))
    let states = Observed<StreamState>()
    let frames = Observed<VideoFrame>()
    camera.stream.statePublisher.listen { states.record($0) }.store(in: tokens)
    camera.stream.videoFramePublisher.listen { frames.record($0) }.store(in: tokens)
    camera.stream.start()
    try await frames.wait("24 frames") { $0.count >= 24 }
    #expect(states.values.last == .streaming)
    let stamps = frames.values.map { $0.sampleBuffer.presentationTimeStamp.value }
    #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
    session.stop()
    try await states.wait("the stop") { $0.last == .stopped }
    await MockDeviceKit.shared.disable()
    tokens.clear()
  }

  @Test("a hundred starts and stops without a pause leave no session, thread or descriptor (LIFE-3)")
  func noLeaks() async throws {
    MockDeviceKit.shared.enable()
    let glasses = try MockKit.shared.pairGlasses(model: .rayBanMeta, deviceClock: .identity)
    glasses.powerOn()
    glasses.don()
    func cycle() async throws {
      let session = try Wearables.shared.createSession(
        deviceSelector: SpecificDeviceSelector(device: glasses.deviceIdentifier))
      let states = session.stateStream()
      try session.start()
      for await state in states where state == .started {
        let camera = try session.addCamera(config: CameraWorld.compressed)
        camera?.stream.start()
        session.stop()
      }
    }
    try await cycle()
    let before = ProcessResources.now()
    for _ in 0..<100 { try await cycle() }
    try await streamsWithinThreeSeconds(glasses)
    await MockDeviceKit.shared.disable()
    #expect(glasses.agent.sessionCount == 0)
    #expect(glasses.agent.linkCount == 0)
    let after = await ProcessResources.settled {
      $0.streamThreads.isEmpty && $0.descriptors.count <= before.descriptors.count
    }
    #expect(after.streamThreads.isEmpty)
    #expect(after.descriptors.count <= before.descriptors.count, "\(before.descriptors), then \(after.descriptors)")
  }

  private func streamsWithinThreeSeconds(_ glasses: any MockGlasses) async throws {
    let session = try Wearables.shared.createSession(
      deviceSelector: SpecificDeviceSelector(device: glasses.deviceIdentifier))
    let states = session.stateStream()
    try session.start()
    for await state in states where state == .started { break }
    let camera = try #require(try session.addCamera(config: CameraWorld.compressed))
    let frames = Observed<VideoFrame>()
    let token = camera.stream.videoFramePublisher.listen { frames.record($0) }
    camera.stream.start()
    try await frames.wait("a frame", within: .seconds(3)) { !$0.isEmpty }
    withExtendedLifetime(token) {}
  }

  @Test("eight hands at the glasses at once break nothing while they stream (LIFE-5)")
  func manyHands() async throws {
    MockDeviceKit.shared.enable()
    let glasses = try MockKit.shared.pairGlasses(model: .rayBanMeta, deviceClock: .identity)
    glasses.powerOn()
    glasses.don()
    try await streamsWithinThreeSeconds(glasses)
    await withTaskGroup(of: Void.self) { group in
      for seed in 0..<8 {
        group.addTask {
          var generator = SeededGenerator(seed: UInt64(seed))
          for _ in 0..<200 { handle(glasses, Int.random(in: 0..<10, using: &generator)) }
        }
      }
    }
    // Whatever they left, the glasses serve the next one who wears them.
    glasses.setThermalLevel(.none)
    glasses.setBatteryLevel(100)
    glasses.powerOn()
    glasses.don()
    try await streamsWithinThreeSeconds(glasses)
    await MockDeviceKit.shared.disable()
    #expect(glasses.agent.linkCount == 0)
    #expect(glasses.agent.sessionCount == 0)
  }
}

private func handle(_ glasses: any MockGlasses, _ action: Int) {
  switch action {
  case 0: glasses.powerOff()
  case 1: glasses.powerOn()
  case 2: glasses.don()
  case 3: glasses.doff()
  case 4: glasses.fold()
  case 5: glasses.services.captouch.tap()
  case 6: glasses.services.captouch.tapAndHold()
  case 7: glasses.setBatteryLevel(action)
  case 8: glasses.setThermalLevel(.severe)
  default: glasses.services.camera.setCameraFeed(cameraFacing: .back)
  }
}
