import GlassesAgent
import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

@Suite("Whatever is done in whatever order", .exclusive(.mockKit))
struct AnyOrderTests {
  /// One app that does things at random with its glasses, and all that it was told.
  private final class Walk {
    let time = ManualTimekeeper()
    let glasses: SimulatedGlasses
    var session: DeviceSession?
    var camera: Camera?
    var sessionPaths: [Observed<DeviceSessionState>] = []
    var streamPaths: [Observed<StreamState>] = []
    let tokens = ListenerTokenBag()
    var generator: SeededGenerator

    init(seed: UInt64) throws {
      generator = SeededGenerator(seed: seed)
      MockKit.shared.enable(
        config: MockDeviceKitConfig(), options: MockKit.Options(timekeeper: time, seed: seed))
      glasses = try MockKit.shared.pairGlasses(model: .rayBanMeta, deviceClock: .identity)
    }

    func step() {
      switch Int.random(in: 0..<18, using: &generator) {
      case 0: glasses.powerOff()
      case 1, 2: glasses.powerOn()
      case 3, 4: glasses.don()
      case 5: glasses.doff()
      case 6: glasses.fold()
      case 7: glasses.unfold()
      case 8: glasses.services.captouch.tap()
      case 9: glasses.services.captouch.tapAndHold()
      case 10: newSession()
      case 11: try? session?.start()
      case 12: session?.stop()
      case 13: addCamera()
      case 14: camera?.stream.start()
      case 15: camera?.stream.stop()
      case 16: camera?.stop()
      default: _ = camera?.stream.capturePhoto(format: .jpeg)
      }
      time.advance(by: .milliseconds(Int64.random(in: 0..<400, using: &generator)))
    }

    private func newSession() {
      guard session == nil || session?.state == .stopped else { return }
      let selector = SpecificDeviceSelector(device: glasses.deviceIdentifier)
      guard let new = try? Wearables.shared.createSession(deviceSelector: selector) else { return }
      let path = Observed<DeviceSessionState>()
      sessionPaths.append(path)
      new.statePublisher.listen { path.record($0) }.store(in: tokens)
      session = new
      try? new.start()
    }

    private func addCamera() {
      guard let new = try? session?.addCamera(config: CameraWorld.compressed) else { return }
      let path = Observed<StreamState>()
      streamPaths.append(path)
      new.stream.statePublisher.listen { path.record($0) }.store(in: tokens)
      camera = new
    }
  }

  @Test("nothing breaks or hangs, and everything that was started stops once (LIFE-2, LIFE-5)", arguments: 1...40)
  func randomWalk(seed: Int) throws {
    let walk = try Walk(seed: UInt64(seed))
    walk.glasses.powerOn()
    walk.glasses.don()
    for _ in 0..<60 { walk.step() }
    MockDeviceKit.shared.disable()
    walk.time.advance(by: .seconds(40))
    #expect(walk.session?.state ?? .stopped == .stopped || walk.session?.state == .idle)
    #expect(walk.camera?.state ?? .stopped == .stopped)
    #expect(walk.camera?.stream.state ?? .stopped == .stopped)
    for path in walk.sessionPaths.map(\.values) where !path.isEmpty {
      #expect(path.last == .stopped)
      #expect(path.count { $0 == .stopped } == 1)
    }
    for path in walk.streamPaths.map(\.values) where !path.isEmpty {
      #expect(path.last == .stopped)
      let starts = path.count { $0 == .waitingForDevice }
      #expect(path.count { $0 == .stopped } <= max(starts, 1))
    }
    #expect(walk.glasses.agent.linkCount == 0)
    #expect(walk.glasses.agent.sessionCount == 0)
  }
}
