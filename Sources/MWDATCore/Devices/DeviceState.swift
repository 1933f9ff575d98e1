/// What is known of a device at one moment.
public struct DeviceState: Sendable, Equatable {
  public var linkState: LinkState
  public var compatibility: Compatibility
  /// Percent, 0 to 100; nil when not known.
  public var batteryLevel: Int?
  public var chargingState: ChargingState
  public var donState: DonState
  public var hingeState: HingeState
  public var thermalLevel: ThermalLevel

  /// A state; what is left out is unknown.
  public init(
    linkState: LinkState = .disconnected, compatibility: Compatibility = .undefined, batteryLevel: Int? = nil,
    chargingState: ChargingState = .unknown, donState: DonState = .unknown, hingeState: HingeState = .unknown,
    thermalLevel: ThermalLevel = .unknown
  ) {
    self.linkState = linkState
    self.compatibility = compatibility
    self.batteryLevel = batteryLevel
    self.chargingState = chargingState
    self.donState = donState
    self.hingeState = hingeState
    self.thermalLevel = thermalLevel
  }
}
