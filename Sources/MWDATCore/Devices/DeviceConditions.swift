/// Whether glasses can be reached.
@frozen public enum LinkState: Hashable, Sendable { case disconnected, connecting, connected }

/// Whether the glasses' battery is being charged.
@frozen public enum ChargingState: Hashable, Sendable { case unknown, charging, notCharging }

/// Whether the glasses are worn.
@frozen public enum DonState: Hashable, Sendable { case unknown, doffed, donned }

/// Whether the glasses are folded.
@frozen public enum HingeState: Hashable, Sendable { case unknown, closed, open }

/// How hot the glasses are; media ends from `severe` on.
@frozen public enum ThermalLevel: Hashable, Sendable {
  case unknown, none, light, moderate, severe, critical, emergency, shutdown
}

/// Left over from an older form of the interface; nothing returns it.
@frozen public enum CapabilityState: Hashable, Sendable { case active, stopped }

/// Whether this version of the interface and the glasses' software understand each other.
public enum Compatibility: CaseIterable, Hashable, Sendable {
  /// Not known, as for every disconnected device; treat as incompatible.
  case undefined
  case compatible
  case deviceUpdateRequired
  case sdkUpdateRequired

  /// What to show to people.
  public var displayString: String {
    switch self {
    case .undefined: "Unknown"
    case .compatible: "Compatible"
    case .deviceUpdateRequired: "The glasses need an update"
    case .sdkUpdateRequired: "The app needs an update"
    }
  }
}
