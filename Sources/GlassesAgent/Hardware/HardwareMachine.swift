import LinkProtocol

/// The body of a pair of glasses as a state machine: what is done to it goes in, what follows comes out.
package struct HardwareMachine: Sendable {
  /// What closing the hinge does to links.
  package enum FoldEffect: Hashable, Sendable {
    /// The session ends, the glasses stay reachable. What simulated glasses do.
    case endsSession
    /// The radio goes off: each link ends. What glasses in the hand do.
    case dropsLinks
  }

  package enum Input: Hashable, Sendable {
    case powerOn, powerOff
    case don, doff
    case fold, unfold
    /// Held within 0 to 100; nil for unknown.
    case battery(Int?)
    case charging(DeviceStateReport.Charging)
    case thermal(DeviceStateReport.Thermal)
    case tap
    case tapAndHold
    /// The glasses need rest, and have had it: sessions pause for this reason, and go on.
    case rest(SessionPaused.Reason)
    case endRest(SessionPaused.Reason)
    /// A moment of too much draw: streams end.
    case peakPowerLimit
    /// A moment of far too much draw: sessions end.
    case peakPowerShutdown
  }

  package enum Event: Hashable, Sendable {
    /// Something of the state is different now.
    case changed(HardwareState)
    /// The hinge was closed and the session ends with it.
    case folded
    /// The glasses left: every link ends, for this reason.
    case left(Goodbye.Reason)
    /// The condition forbids what it allowed before, or for a moment.
    case forbidden(HealthVerdict)
    case tapped
    case held
    case needsRest(SessionPaused.Reason)
    case restEnded(SessionPaused.Reason)
  }

  package private(set) var state: HardwareState
  private let foldEffect: FoldEffect

  package init(state: HardwareState = HardwareState(), foldEffect: FoldEffect) {
    self.state = state
    self.foldEffect = foldEffect
  }

  /// Events in the order in which they are to be acted on: the end of what the input ended, then the new state.
  package mutating func handle(_ input: Input) -> [Event] {
    let before = state
    var events: [Event] = []
    switch input {
    case .powerOn:
      state.isPoweredOn = true
      becomeReachable()
    case .powerOff:
      state.isPoweredOn = false
      state.isReachable = false
      if before.isReachable { events.append(.left(.poweringOff)) }
    case .don:
      // Nobody wears folded glasses.
      state.hinge = .open
      state.wear = .donned
      becomeReachable()
    case .doff:
      state.wear = .doffed
    case .unfold:
      state.hinge = .open
      becomeReachable()
    case .fold:
      state.hinge = .closed
      state.wear = .doffed
      if before.hinge != .closed, before.isReachable { events.append(fold()) }
    case .battery(let level):
      state.batteryLevel = level.map { min(max($0, 0), 100) }
    case .charging(let charging):
      state.charging = charging
    case .thermal(let level):
      state.thermal = level
    case .tap:
      if state.isReachable { events.append(.tapped) }
    case .tapAndHold:
      if state.isReachable { events.append(.held) }
    case .rest(let reason):
      if state.isReachable { events.append(.needsRest(reason)) }
    case .endRest(let reason):
      if state.isReachable { events.append(.restEnded(reason)) }
    case .peakPowerLimit:
      if state.isReachable { events.append(.forbidden(.noStream(.peakPowerLimit))) }
    case .peakPowerShutdown:
      if state.isReachable { events.append(.forbidden(.noSession(.peakPowerShutdown))) }
    }
    if state.health != before.health, state.health != .good, state.isReachable {
      events.append(.forbidden(state.health))
    }
    if state != before { events.append(.changed(state)) }
    return events
  }

  private mutating func becomeReachable() {
    guard state.isPoweredOn, state.hinge == .open else { return }
    state.isReachable = true
    state.wasReachable = true
  }

  private mutating func fold() -> Event {
    switch foldEffect {
    case .endsSession: return .folded
    case .dropsLinks:
      state.isReachable = false
      return .left(.hingeClosed)
    }
  }
}
