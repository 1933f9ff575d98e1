import LinkProtocol

/// What a pair of glasses is like at one moment.
package struct HardwareState: Hashable, Sendable {
  package var isPoweredOn: Bool
  package var hinge: DeviceStateReport.Hinge
  package var wear: DeviceStateReport.Wear
  /// Percent, 0 to 100; nil when the glasses don't know.
  package var batteryLevel: Int?
  package var charging: DeviceStateReport.Charging
  package var thermal: DeviceStateReport.Thermal
  /// Whether apps can reach the glasses. Begins when they are on with the hinge open; what ends it is
  /// `HardwareMachine.FoldEffect` and being switched off.
  package var isReachable: Bool
  /// Whether they ever were; what apps list.
  package var wasReachable: Bool

  package init(
    isPoweredOn: Bool = false, hinge: DeviceStateReport.Hinge = .closed, wear: DeviceStateReport.Wear = .doffed,
    batteryLevel: Int? = 100, charging: DeviceStateReport.Charging = .notCharging,
    thermal: DeviceStateReport.Thermal = .none, isReachable: Bool = false, wasReachable: Bool = false
  ) {
    self.isPoweredOn = isPoweredOn
    self.hinge = hinge
    self.wear = wear
    self.batteryLevel = batteryLevel
    self.charging = charging
    self.thermal = thermal
    self.isReachable = isReachable
    self.wasReachable = wasReachable
  }

  /// As it is told to apps.
  package var report: DeviceStateReport {
    DeviceStateReport(
      batteryLevel: batteryLevel.map { UInt8(clamping: $0) }, charging: charging, wear: wear, hinge: hinge,
      thermal: thermal)
  }

  /// What the glasses' condition allows.
  package var health: HealthVerdict {
    switch thermal {
    case .critical: return .noSession(.thermalCritical)
    // Glasses this hot are about to switch themselves off; to an app both are the last word before the end.
    case .emergency, .shutdown: return .noSession(.thermalEmergency)
    case .unknown, .none, .light, .moderate, .severe: break
    }
    let draining = charging != .charging
    if draining, let batteryLevel, batteryLevel <= Self.criticalBattery { return .noSession(.batteryCritical) }
    if thermal == .severe { return .noStream(.thermalHot) }
    if draining, let batteryLevel, batteryLevel <= Self.lowBattery { return .noStream(.batteryLow) }
    return .good
  }

  /// Percent at or below which no stream runs on the battery.
  package static let lowBattery = 5
  /// Percent at or below which no session runs on the battery.
  package static let criticalBattery = 2
}

/// What the glasses' heat and charge allow.
package enum HealthVerdict: Hashable, Sendable {
  case good
  /// A session may go on, its stream may not; with the cause.
  case noStream(LinkErrorCode)
  /// Nothing may go on; with the cause.
  case noSession(LinkErrorCode)
}
