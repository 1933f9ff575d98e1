import LinkProtocol

// The same conditions as the link names them.

extension ChargingState {
  package init(_ reported: DeviceStateReport.Charging) {
    switch reported {
    case .unknown: self = .unknown
    case .charging: self = .charging
    case .notCharging: self = .notCharging
    }
  }

  package var reported: DeviceStateReport.Charging {
    switch self {
    case .unknown: .unknown
    case .charging: .charging
    case .notCharging: .notCharging
    }
  }
}

extension DonState {
  package init(_ reported: DeviceStateReport.Wear) {
    switch reported {
    case .unknown: self = .unknown
    case .doffed: self = .doffed
    case .donned: self = .donned
    }
  }
}

extension HingeState {
  package init(_ reported: DeviceStateReport.Hinge) {
    switch reported {
    case .unknown: self = .unknown
    case .closed: self = .closed
    case .open: self = .open
    }
  }
}

extension ThermalLevel {
  package init(_ reported: DeviceStateReport.Thermal) {
    switch reported {
    case .unknown: self = .unknown
    case .none: self = .none
    case .light: self = .light
    case .moderate: self = .moderate
    case .severe: self = .severe
    case .critical: self = .critical
    case .emergency: self = .emergency
    case .shutdown: self = .shutdown
    }
  }

  package var reported: DeviceStateReport.Thermal {
    switch self {
    case .unknown: .unknown
    case .none: .none
    case .light: .light
    case .moderate: .moderate
    case .severe: .severe
    case .critical: .critical
    case .emergency: .emergency
    case .shutdown: .shutdown
    }
  }
}
