import LinkProtocol
import Testing

@testable import GlassesAgent

@Suite("The body of a pair of glasses")
struct HardwareMachineTests {
  private func machine(_ inputs: HardwareMachine.Input..., fold: HardwareMachine.FoldEffect = .endsSession)
    -> HardwareMachine
  {
    var machine = HardwareMachine(foldEffect: fold)
    for input in inputs { _ = machine.handle(input) }
    return machine
  }

  @Test("is reachable once it is on with the hinge open, in whatever order that came about")
  func reachable() {
    #expect(!machine(.powerOn).state.isReachable)
    #expect(!machine(.unfold).state.isReachable)
    #expect(machine(.powerOn, .unfold).state.isReachable)
    #expect(machine(.unfold, .powerOn).state.isReachable)
    #expect(machine(.powerOn, .don).state.isReachable)
    #expect(machine(.don, .powerOn).state.isReachable)
  }

  @Test("putting on opens the hinge; taking off changes nothing but the wear")
  func donAndDoff() {
    let donned = machine(.powerOn, .don)
    #expect(donned.state.hinge == .open)
    #expect(donned.state.wear == .donned)
    var doffed = donned
    var expected = donned.state
    expected.wear = .doffed
    #expect(doffed.handle(.doff) == [.changed(expected)])
  }

  @Test("folding simulated glasses ends the session and leaves them reachable")
  func foldKeepsReachable() {
    var machine = machine(.powerOn, .don)
    let events = machine.handle(.fold)
    #expect(events == [.folded, .changed(machine.state)])
    #expect(machine.state.hinge == .closed)
    #expect(machine.state.wear == .doffed)
    #expect(machine.state.isReachable)
    #expect(machine.handle(.fold).isEmpty)
  }

  @Test("folding glasses in the hand ends every link")
  func foldDropsLinks() {
    var machine = machine(.powerOn, .don, fold: .dropsLinks)
    #expect(machine.handle(.fold) == [.left(.hingeClosed), .changed(machine.state)])
    #expect(!machine.state.isReachable)
  }

  @Test("switching off ends every link once; folded glasses need unfolding after the next switching on")
  func powerOff() {
    var machine = machine(.powerOn, .don, .fold)
    #expect(machine.handle(.powerOff) == [.left(.poweringOff), .changed(machine.state)])
    #expect(machine.handle(.powerOff).isEmpty)
    _ = machine.handle(.powerOn)
    #expect(!machine.state.isReachable)
    _ = machine.handle(.unfold)
    #expect(machine.state.isReachable)
  }

  @Test("what is done to unreachable glasses reaches no session")
  func unreachable() {
    var machine = machine(.don)
    #expect(machine.handle(.tap).isEmpty)
    #expect(machine.handle(.tapAndHold).isEmpty)
    #expect(machine.handle(.peakPowerLimit).isEmpty)
    #expect(machine.handle(.thermal(.emergency)) == [.changed(machine.state)])
  }

  @Test("touches and moments of too much draw are told without a change of state")
  func momentary() {
    var machine = machine(.powerOn, .don)
    #expect(machine.handle(.tap) == [.tapped])
    #expect(machine.handle(.tapAndHold) == [.held])
    #expect(machine.handle(.peakPowerLimit) == [.forbidden(.noStream(.peakPowerLimit))])
    #expect(machine.handle(.peakPowerShutdown) == [.forbidden(.noSession(.peakPowerShutdown))])
  }

  @Test(
    "heat forbids by its level",
    arguments: [
      (DeviceStateReport.Thermal.none, HealthVerdict.good), (.light, .good), (.moderate, .good),
      (.severe, .noStream(.thermalHot)), (.critical, .noSession(.thermalCritical)),
      (.emergency, .noSession(.thermalEmergency)), (.shutdown, .noSession(.thermalEmergency)),
    ])
  func thermal(level: DeviceStateReport.Thermal, verdict: HealthVerdict) {
    var machine = machine(.powerOn, .don, .thermal(.light))
    let events = machine.handle(.thermal(level))
    #expect(machine.state.health == verdict)
    #expect(events.contains(.forbidden(verdict)) == (verdict != .good))
  }

  @Test(
    "an empty battery forbids by its level, but not on the charger",
    arguments: [
      (nil, HealthVerdict.good), (6, .good), (5, .noStream(.batteryLow)), (3, .noStream(.batteryLow)),
      (2, .noSession(.batteryCritical)), (0, .noSession(.batteryCritical)), (-4, .noSession(.batteryCritical)),
    ] as [(Int?, HealthVerdict)])
  func battery(level: Int?, verdict: HealthVerdict) {
    var machine = machine(.powerOn, .don, .charging(.charging))
    _ = machine.handle(.battery(level))
    #expect(machine.state.health == .good)
    let events = machine.handle(.charging(.notCharging))
    #expect(machine.state.health == verdict)
    #expect(events.contains(.forbidden(verdict)) == (verdict != .good))
  }

  @Test("the battery's level is held within 0 and 100")
  func batteryHeld() {
    #expect(machine(.battery(.max)).state.batteryLevel == 100)
    #expect(machine(.battery(.min)).state.batteryLevel == 0)
    #expect(machine(.battery(nil)).state.report.batteryLevel == nil)
  }

  @Test("an input that changes nothing tells nothing")
  func unchanged() {
    var machine = machine(.powerOn, .don, .battery(5), .thermal(.severe))
    for input: HardwareMachine.Input in [.powerOn, .don, .unfold, .battery(5), .thermal(.severe)] {
      #expect(machine.handle(input).isEmpty)
    }
  }
}
