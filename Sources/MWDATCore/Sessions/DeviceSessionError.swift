/// What went wrong with a session.
public enum DeviceSessionError: DatError, Equatable {
  /// No device was selected, or it is off, out of reach or incompatible.
  case noEligibleDevice
  case sessionAlreadyStopped
  /// The device has a session that has not stopped.
  case sessionAlreadyExists
  /// The operation needs a started session.
  case sessionIdle
  case capabilityAlreadyActive
  case capabilityNotFound
  case unexpectedError(description: String)
  case thermalCritical
  case thermalEmergency
  case peakPowerShutdown
  case batteryCritical
  case datAppOnTheGlassesUpdateRequired
  /// The software on the glasses that apps talk to can't be reached.
  case dwaUnavailable
  case insufficientSDKVersion
  /// A warning: the session goes on.
  case dwaOutOfStuRange

  public var description: String {
    switch self {
    case .noEligibleDevice: "No eligible device available"
    case .sessionAlreadyStopped: "The session has stopped. Create a new one."
    case .sessionAlreadyExists: "A session already exists for this device"
    case .sessionIdle: "The session is not started. Call start() and wait for the started state."
    case .capabilityAlreadyActive: "The session has this capability already. Stop it before adding another."
    case .capabilityNotFound: "The session has no such capability. Add it first."
    case .unexpectedError(let description): description
    case .thermalCritical: "The glasses are too hot. Let them cool down before the next session."
    case .thermalEmergency: "The glasses are shutting down because of heat. Take them off and let them cool down."
    case .peakPowerShutdown: "The glasses can't give the power that this takes. Charge them."
    case .batteryCritical: "The glasses' battery is almost empty. Charge them."
    case .datAppOnTheGlassesUpdateRequired:
      "The software on the glasses is too old for this app. Update it with openDATGlassesAppUpdate()."
    case .dwaUnavailable: "The software on the glasses does not answer. Put them into their case and try again."
    case .insufficientSDKVersion: "The glasses' software is newer than this app understands. Update the app."
    case .dwaOutOfStuRange:
      "The software on the glasses is outside the tested range; the session goes on. Update when possible."
    }
  }
}
