import LinkProtocol
import MWDATCore
import TestSupport
import Testing

@testable import MWDATMockDevice

@Suite("Sessions with simulated glasses", .exclusive(.mockKit))
struct SessionPathTests {
  private let kit = MockDeviceKit.shared

  /// Glasses on a face, a clock moved by hand, and a session that has started.
  private struct World {
    let time = ManualTimekeeper()
    let glasses: any MockGlasses
    let session: DeviceSession
    let states = Observed<DeviceSessionState>()
    let errors = Observed<DeviceSessionError>()
    private let tokens = ListenerTokenBag()

    init(isStarted: Bool = true) throws {
      MockKit.shared.enable(config: MockDeviceKitConfig(), options: MockKit.Options(timekeeper: time))
      glasses = try MockDeviceKit.shared.pairGlasses(model: .rayBanMeta)
      glasses.powerOn()
      glasses.don()
      session = try Wearables.shared.createSession(
        deviceSelector: SpecificDeviceSelector(device: glasses.deviceIdentifier))
      session.statePublisher.listen { [states] in states.record($0) }.store(in: tokens)
      session.errorPublisher.listen { [errors] in errors.record($0) }.store(in: tokens)
      guard isStarted else { return }
      try session.start()
      time.settle()
    }

    func end() {
      MockDeviceKit.shared.disable()
      time.advance(by: .seconds(2))
    }
  }

  @Test("a session starts at once after pairing, and stops when asked")
  func startAndStop() throws {
    let world = try World()
    #expect(world.session.state == .started)
    world.session.stop()
    world.time.advance(by: .seconds(2))
    #expect(world.states.values == [.starting, .started, .stopping, .stopped])
    #expect(world.errors.values.isEmpty)
    world.end()
  }

  @Test("glasses that are off or folded are not eligible; the same session starts once they can be reached")
  func notEligible() throws {
    let world = try World(isStarted: false)
    world.glasses.powerOff()
    #expect(throws: DeviceSessionError.noEligibleDevice) { try world.session.start() }
    #expect(world.session.state == .idle)
    world.glasses.powerOn()
    try world.session.start()
    world.time.settle()
    #expect(world.session.state == .started)
    world.end()
  }

  @Test("taps pause and resume a session")
  func tap() throws {
    let world = try World()
    world.glasses.services.captouch.tap()
    world.time.settle()
    #expect(world.session.state == .paused)
    world.glasses.services.captouch.tap()
    world.time.settle()
    #expect(world.session.state == .started)
    world.end()
  }

  @Test(
    "a held finger or a closed hinge ends the session by the device; another session can start at once",
    arguments: [true, false])
  func endedByDevice(byHinge: Bool) throws {
    let world = try World()
    if byHinge { world.glasses.fold() } else { world.glasses.services.captouch.tapAndHold() }
    world.time.advance(by: .seconds(2))
    #expect(world.errors.values == [.unexpectedError(description: "Session ended by device")])
    #expect(world.states.values.suffix(2) == [.stopping, .stopped])
    let next = try Wearables.shared.createSession(
      deviceSelector: SpecificDeviceSelector(device: world.glasses.deviceIdentifier))
    try next.start()
    world.time.settle()
    #expect(next.state == .started)
    world.end()
  }

  @Test("taking the glasses off ends nothing")
  func doff() throws {
    let world = try World()
    world.glasses.doff()
    world.time.advance(by: .seconds(5))
    #expect(world.session.state == .started)
    world.end()
  }

  @Test("a session ends with an error when its glasses are switched off, forgotten, or the kit goes")
  func glassesLeave() throws {
    let leave: [@Sendable (any MockGlasses) -> Void] = [
      { $0.powerOff() }, { MockDeviceKit.shared.unpairDevice($0) }, { _ in MockDeviceKit.shared.disable() },
    ]
    for action in leave {
      let world = try World()
      action(world.glasses)
      world.time.advance(by: .seconds(2))
      #expect(world.session.state == .stopped)
      #expect(world.errors.values.count == 1)
      #expect(world.states.values.filter { $0 == .stopped }.count == 1)
      world.end()
    }
  }

  @Test("heat and an empty battery end the session by their names")
  func condition() throws {
    let conditions: [(DeviceSessionError, @Sendable (any MockGlasses) -> Void)] = [
      (.thermalCritical, { $0.setThermalLevel(.critical) }), (.thermalEmergency, { $0.setThermalLevel(.emergency) }),
      (.batteryCritical, { $0.setBatteryLevel(2) }),
    ]
    for (error, action) in conditions {
      let world = try World()
      action(world.glasses)
      world.time.advance(by: .seconds(2))
      #expect(world.errors.values == [error])
      #expect(world.session.state == .stopped)
      world.end()
    }
  }

  @Test("a selector follows the glasses: none when they are off, the same again when they are back")
  func selector() throws {
    let world = try World(isStarted: false)
    let selector = AutoDeviceSelector(wearables: Wearables.shared)
    world.time.settle()
    #expect(selector.activeDevice == world.glasses.deviceIdentifier)
    world.glasses.powerOff()
    world.time.settle()
    #expect(selector.activeDevice == nil)
    world.glasses.powerOn()
    world.glasses.don()
    world.time.settle()
    #expect(selector.activeDevice == world.glasses.deviceIdentifier)
    world.glasses.fold()
    world.time.settle()
    #expect(selector.activeDevice == world.glasses.deviceIdentifier)
    world.end()
  }

  @Test("asynchronous unpairing and disabling return when the links are torn down (LIFE-1)")
  func awaitedEnds() async throws {
    kit.enable()
    let glasses = try MockKit.shared.pairGlasses(model: .rayBanMeta, deviceClock: .identity)
    glasses.powerOn()
    glasses.don()
    let session = try Wearables.shared.createSession(
      deviceSelector: SpecificDeviceSelector(device: glasses.deviceIdentifier))
    let states = Observed<DeviceSessionState>()
    let token = session.statePublisher.listen { states.record($0) }
    try session.start()
    try await states.wait { $0.last == .started }
    await kit.unpairDevice(glasses)
    #expect(glasses.agent.linkCount == 0)
    #expect(kit.pairedDevices.isEmpty)
    try await states.wait { $0.last == .stopped }
    await kit.disable()
    withExtendedLifetime(token) {}
  }
}
