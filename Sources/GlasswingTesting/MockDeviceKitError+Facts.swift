import Glasswing
import MWDATMockDevice

extension MockDeviceKitError {
  /// Name, number, stage, severity and advice.
  public var facts: ErrorFacts {
    switch self {
    case .notEnabled: facts("notEnabled", 9101, .configuration, .recoverable, .configuration)
    case .testServerUnavailable: facts("testServerUnavailable", 9102, .configuration, .recoverable, .giveUp)
    }
  }

  private func facts(
    _ name: String, _ code: Int, _ stage: ErrorStage, _ severity: ErrorSeverity, _ advice: ErrorAdvice
  ) -> ErrorFacts {
    ErrorFacts(
      name: "mockDeviceKit." + name, code: code, stage: stage, severity: severity, advice: advice, message: description)
  }
}
