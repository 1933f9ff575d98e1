import Units

/// What glasses report of themselves: once after their hello, then on every change.
package struct DeviceStateReport: Hashable, Sendable {
  package enum Charging: UInt8, Hashable, Sendable, CaseIterable { case unknown, charging, notCharging }
  package enum Wear: UInt8, Hashable, Sendable, CaseIterable { case unknown, doffed, donned }
  package enum Hinge: UInt8, Hashable, Sendable, CaseIterable { case unknown, closed, open }
  package enum Thermal: UInt8, Hashable, Sendable, CaseIterable {
    case unknown, none, light, moderate, severe, critical, emergency, shutdown
  }

  /// Percent, 0 to 100; nil when the glasses don't know.
  package var batteryLevel: UInt8?
  package var charging: Charging
  package var wear: Wear
  package var hinge: Hinge
  package var thermal: Thermal

  package init(
    batteryLevel: UInt8? = nil, charging: Charging = .unknown, wear: Wear = .unknown, hinge: Hinge = .unknown,
    thermal: Thermal = .unknown
  ) {
    self.batteryLevel = batteryLevel
    self.charging = charging
    self.wear = wear
    self.hinge = hinge
    self.thermal = thermal
  }
}
