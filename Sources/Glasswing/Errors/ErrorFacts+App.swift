import MWDATCore

// The switches have no default, so that a new case has to be given its facts. Conformances stay as the interface has them.

extension WearablesError {
  /// Name, number, stage, severity and advice.
  public var facts: ErrorFacts {
    switch self {
    case .internalError: facts("internalError", 101, .configuration, .terminal, .giveUp)
    case .alreadyConfigured: facts("alreadyConfigured", 102, .configuration, .informational, .configuration)
    case .configurationError: facts("configurationError", 103, .configuration, .terminal, .configuration)
    case .missingInfoDictionary: facts("missingInfoDictionary", 104, .configuration, .terminal, .configuration)
    case .missingBundleIdentifier: facts("missingBundleIdentifier", 105, .configuration, .terminal, .configuration)
    case .missingAppName: facts("missingAppName", 106, .configuration, .terminal, .configuration)
    case .missingAppVersion: facts("missingAppVersion", 107, .configuration, .terminal, .configuration)
    case .missingBuildNumber: facts("missingBuildNumber", 108, .configuration, .terminal, .configuration)
    }
  }

  private func facts(
    _ name: String, _ code: Int, _ stage: ErrorStage, _ severity: ErrorSeverity, _ advice: ErrorAdvice
  ) -> ErrorFacts {
    ErrorFacts(
      name: "wearables." + name, code: code, stage: stage, severity: severity, advice: advice, message: description)
  }
}

extension RegistrationError {
  /// Name, number, stage, severity and advice.
  public var facts: ErrorFacts {
    switch self {
    case .alreadyRegistered: facts("alreadyRegistered", 201, .registration, .informational, .configuration)
    case .configurationInvalid: facts("configurationInvalid", 202, .registration, .recoverable, .configuration)
    case .metaAINotInstalled: facts("metaAINotInstalled", 203, .registration, .recoverable, .userAction)
    case .networkUnavailable: facts("networkUnavailable", 204, .registration, .recoverable, .userAction)
    case .unknown: facts("unknown", 205, .registration, .recoverable, .retry)
    }
  }

  private func facts(
    _ name: String, _ code: Int, _ stage: ErrorStage, _ severity: ErrorSeverity, _ advice: ErrorAdvice
  ) -> ErrorFacts {
    ErrorFacts(
      name: "registration." + name, code: code, stage: stage, severity: severity, advice: advice, message: description)
  }
}

extension UnregistrationError {
  /// Name, number, stage, severity and advice.
  public var facts: ErrorFacts {
    switch self {
    case .alreadyUnregistered: facts("alreadyUnregistered", 221, .registration, .informational, .configuration)
    case .configurationInvalid: facts("configurationInvalid", 222, .registration, .recoverable, .configuration)
    case .metaAINotInstalled: facts("metaAINotInstalled", 223, .registration, .recoverable, .userAction)
    case .unknown: facts("unknown", 224, .registration, .recoverable, .retry)
    }
  }

  private func facts(
    _ name: String, _ code: Int, _ stage: ErrorStage, _ severity: ErrorSeverity, _ advice: ErrorAdvice
  ) -> ErrorFacts {
    ErrorFacts(
      name: "unregistration." + name, code: code, stage: stage, severity: severity, advice: advice, message: description
    )
  }
}

extension WearablesHandleURLError {
  /// Name, number, stage, severity and advice.
  public var facts: ErrorFacts {
    switch self {
    case .registrationError: facts("registrationError", 241, .registration, .recoverable, .retry)
    case .unregistrationError: facts("unregistrationError", 242, .registration, .recoverable, .retry)
    }
  }

  private func facts(
    _ name: String, _ code: Int, _ stage: ErrorStage, _ severity: ErrorSeverity, _ advice: ErrorAdvice
  ) -> ErrorFacts {
    ErrorFacts(
      name: "handleURL." + name, code: code, stage: stage, severity: severity, advice: advice, message: description)
  }
}

extension NavigationError {
  /// Name, number, stage, severity and advice.
  public var facts: ErrorFacts {
    switch self {
    case .metaAINotInstalled: facts("metaAINotInstalled", 261, .registration, .recoverable, .userAction)
    case .notRegistered: facts("notRegistered", 262, .registration, .recoverable, .userAction)
    }
  }

  private func facts(
    _ name: String, _ code: Int, _ stage: ErrorStage, _ severity: ErrorSeverity, _ advice: ErrorAdvice
  ) -> ErrorFacts {
    ErrorFacts(
      name: "navigation." + name, code: code, stage: stage, severity: severity, advice: advice, message: description)
  }
}

extension RegistrationRequestError {
  /// Name, number, stage, severity and advice.
  public var facts: ErrorFacts {
    switch self {
    case .invalidRequest: facts("invalidRequest", 281, .registration, .terminal, .userAction)
    case .alreadyHandled: facts("alreadyHandled", 282, .registration, .terminal, .configuration)
    case .configurationInvalid: facts("configurationInvalid", 283, .registration, .recoverable, .configuration)
    case .networkUnavailable: facts("networkUnavailable", 284, .registration, .recoverable, .userAction)
    case .metaAINotInstalled: facts("metaAINotInstalled", 285, .registration, .recoverable, .userAction)
    case .registrationFailed: facts("registrationFailed", 286, .registration, .recoverable, .userAction)
    case .cancellationFailed: facts("cancellationFailed", 287, .registration, .recoverable, .wait)
    }
  }

  private func facts(
    _ name: String, _ code: Int, _ stage: ErrorStage, _ severity: ErrorSeverity, _ advice: ErrorAdvice
  ) -> ErrorFacts {
    ErrorFacts(
      name: "registrationRequest." + name, code: code, stage: stage, severity: severity, advice: advice,
      message: description)
  }
}

extension PermissionError {
  /// Name, number, stage, severity and advice.
  public var facts: ErrorFacts {
    switch self {
    case .noDevice: facts("noDevice", 301, .permission, .recoverable, .userAction)
    case .noDeviceWithConnection: facts("noDeviceWithConnection", 302, .permission, .recoverable, .userAction)
    case .connectionError: facts("connectionError", 303, .permission, .recoverable, .retry)
    case .metaAINotInstalled: facts("metaAINotInstalled", 304, .permission, .recoverable, .userAction)
    case .requestInProgress: facts("requestInProgress", 305, .permission, .recoverable, .wait)
    case .requestTimeout: facts("requestTimeout", 306, .permission, .recoverable, .retry)
    case .internalError: facts("internalError", 307, .permission, .recoverable, .giveUp)
    }
  }

  private func facts(
    _ name: String, _ code: Int, _ stage: ErrorStage, _ severity: ErrorSeverity, _ advice: ErrorAdvice
  ) -> ErrorFacts {
    ErrorFacts(
      name: "permission." + name, code: code, stage: stage, severity: severity, advice: advice, message: description)
  }
}
