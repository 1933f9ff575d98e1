import LinkProtocol
import MWDATCore

// The same conditions as the link and as the interface name them.

extension GlassesModel {
  var deviceType: DeviceType {
    switch self {
    case .rayBanMeta: .rayBanMeta
    case .oakleyMetaHSTN: .oakleyMetaHSTN
    case .oakleyMetaVanguard: .oakleyMetaVanguard
    case .rayBanMetaOptics: .rayBanMetaOptics
    case .metaGlasses: .metaGlasses
    case .metaRayBanDisplay: .metaRayBanDisplay
    }
  }
}

extension ChargingState {
  init(_ reported: DeviceStateReport.Charging) {
    switch reported {
    case .unknown: self = .unknown
    case .charging: self = .charging
    case .notCharging: self = .notCharging
    }
  }

  var reported: DeviceStateReport.Charging {
    switch self {
    case .unknown: .unknown
    case .charging: .charging
    case .notCharging: .notCharging
    }
  }
}

extension DonState {
  init(_ reported: DeviceStateReport.Wear) {
    switch reported {
    case .unknown: self = .unknown
    case .doffed: self = .doffed
    case .donned: self = .donned
    }
  }
}

extension HingeState {
  init(_ reported: DeviceStateReport.Hinge) {
    switch reported {
    case .unknown: self = .unknown
    case .closed: self = .closed
    case .open: self = .open
    }
  }
}

extension ThermalLevel {
  init(_ reported: DeviceStateReport.Thermal) {
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

  var reported: DeviceStateReport.Thermal {
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
