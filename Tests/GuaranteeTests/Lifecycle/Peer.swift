import MWDATMockDevice

/// What an app may find at the other end of its link.
enum Peer: CaseIterable, Sendable {
  case healthy
  /// Reads everything and does nothing about it.
  case ignoring
  /// Nothing gets through either way, and nothing says so.
  case dead
  /// What the app sends does not arrive.
  case deaf
  /// What the glasses send does not arrive.
  case silent
  /// Pictures arrive, messages do not.
  case withoutMessages
  case cut
  case poweredOff
  case unpaired

  func become(_ glasses: SimulatedGlasses) {
    switch self {
    case .healthy: break
    case .ignoring: glasses.agent.faults.ignoresMessages = true
    case .dead:
      glasses.link.hold(.toApp)
      glasses.link.hold(.toGlasses)
    case .deaf: glasses.link.hold(.toGlasses)
    case .silent: glasses.link.hold(.toApp)
    case .withoutMessages:
      glasses.link.mute(.control, .toApp)
      glasses.link.mute(.control, .toGlasses)
    case .cut: glasses.link.cut()
    case .poweredOff: glasses.powerOff()
    case .unpaired: MockKit.shared.unpairDevice(glasses)
    }
  }
}
