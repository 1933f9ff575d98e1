import MWDATCamera
import MWDATCore

// As for the errors of the app itself: no defaults, no new conformances.

extension DeviceSessionError {
  /// Name, number, stage, severity and advice.
  public var facts: ErrorFacts {
    switch self {
    case .noEligibleDevice: facts("noEligibleDevice", 401, .connect, .recoverable, .userAction)
    case .sessionAlreadyStopped: facts("sessionAlreadyStopped", 402, .session, .terminal, .configuration)
    case .sessionAlreadyExists: facts("sessionAlreadyExists", 403, .session, .recoverable, .wait)
    case .sessionIdle: facts("sessionIdle", 404, .session, .recoverable, .wait)
    case .capabilityAlreadyActive: facts("capabilityAlreadyActive", 405, .session, .recoverable, .configuration)
    case .capabilityNotFound: facts("capabilityNotFound", 406, .session, .recoverable, .configuration)
    case .unexpectedError: facts("unexpectedError", 407, .session, .terminal, .retry)
    case .thermalCritical: facts("thermalCritical", 408, .glasses, .terminal, .wait)
    case .thermalEmergency: facts("thermalEmergency", 409, .glasses, .terminal, .wait)
    case .peakPowerShutdown: facts("peakPowerShutdown", 410, .glasses, .terminal, .userAction)
    case .batteryCritical: facts("batteryCritical", 411, .glasses, .terminal, .userAction)
    case .datAppOnTheGlassesUpdateRequired:
      facts("datAppOnTheGlassesUpdateRequired", 412, .session, .terminal, .userAction)
    case .dwaUnavailable: facts("dwaUnavailable", 413, .link, .terminal, .retry)
    case .insufficientSDKVersion: facts("insufficientSDKVersion", 414, .session, .terminal, .giveUp)
    case .dwaOutOfStuRange: facts("dwaOutOfStuRange", 415, .session, .informational, .userAction)
    }
  }

  private func facts(
    _ name: String, _ code: Int, _ stage: ErrorStage, _ severity: ErrorSeverity, _ advice: ErrorAdvice
  ) -> ErrorFacts {
    ErrorFacts(
      name: "session." + name, code: code, stage: stage, severity: severity, advice: advice, message: description)
  }
}

extension StreamError {
  /// Name, number, stage, severity and advice.
  public var facts: ErrorFacts {
    switch self {
    case .internalError: facts("internalError", 501, .stream, .terminal, .retry)
    case .deviceNotFound: facts("deviceNotFound", 502, .connect, .terminal, .userAction)
    case .deviceNotConnected: facts("deviceNotConnected", 503, .connect, .terminal, .userAction)
    case .timeout: facts("timeout", 504, .start, .terminal, .retry)
    case .videoStreamingError: facts("videoStreamingError", 505, .stream, .terminal, .configuration)
    case .audioStreamingError: facts("audioStreamingError", 506, .configuration, .terminal, .configuration)
    case .permissionDenied: facts("permissionDenied", 507, .permission, .terminal, .userAction)
    case .hingesClosed: facts("hingesClosed", 508, .glasses, .terminal, .userAction)
    case .thermalHot: facts("thermalHot", 509, .glasses, .terminal, .wait)
    case .batteryLow: facts("batteryLow", 510, .glasses, .terminal, .userAction)
    case .peakPowerLimit: facts("peakPowerLimit", 511, .glasses, .terminal, .userAction)
    case .photoCaptureFailed: facts("photoCaptureFailed", 512, .photo, .recoverable, .retry)
    }
  }

  private func facts(
    _ name: String, _ code: Int, _ stage: ErrorStage, _ severity: ErrorSeverity, _ advice: ErrorAdvice
  ) -> ErrorFacts {
    ErrorFacts(
      name: "stream." + name, code: code, stage: stage, severity: severity, advice: advice, message: description)
  }
}

extension PhotoError {
  /// Name, number, stage, severity and advice.
  public var facts: ErrorFacts {
    switch self {
    case .notReady: facts("notReady", 601, .photo, .recoverable, .configuration)
    case .captureFailure: facts("captureFailure", 602, .photo, .recoverable, .retry)
    case .sessionSetupFailed: facts("sessionSetupFailed", 603, .connect, .terminal, .retry)
    case .busy: facts("busy", 604, .photo, .recoverable, .wait)
    case .serviceUnavailable: facts("serviceUnavailable", 605, .photo, .recoverable, .retry)
    case .permissionDenied: facts("permissionDenied", 606, .permission, .terminal, .userAction)
    case .deviceHealthCritical: facts("deviceHealthCritical", 607, .glasses, .recoverable, .wait)
    case .deviceDisconnected: facts("deviceDisconnected", 608, .link, .terminal, .userAction)
    }
  }

  private func facts(
    _ name: String, _ code: Int, _ stage: ErrorStage, _ severity: ErrorSeverity, _ advice: ErrorAdvice
  ) -> ErrorFacts {
    ErrorFacts(
      name: "photo." + name, code: code, stage: stage, severity: severity, advice: advice, message: description)
  }
}
