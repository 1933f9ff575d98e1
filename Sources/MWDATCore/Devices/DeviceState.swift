/// What is known of a device at one moment.
public struct DeviceState: Sendable, Equatable {
  /// Whether the device can be reached.
  public var linkState: LinkState
  /// Whether app and device understand each other.
  public var compatibility: Compatibility
  /// Percent, 0 to 100; nil when not known.
  public var batteryLevel: Int?
  /// Whether the battery is being charged.
  public var chargingState: ChargingState
  /// Whether the device is worn.
  public var donState: DonState
  /// Whether the device is folded.
  public var hingeState: HingeState
  /// How hot the device is.
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
