import MWDATCamera
import MWDATCore

/// What an error says about itself, whichever module it is of: a value that can be logged, compared and stored.
///
/// Names and codes don't change between releases, and no two errors share one. `docs/errors.md` lists them all. The codes
/// are one number space: hundreds for each type of the interface, thousands for Glasswing's own.
public struct ErrorFacts: Codable, Hashable, Sendable {
  /// Type and case: `stream.timeout`.
  public let name: String
  /// A number for the case: 504.
  public let code: Int
  /// The step at which it arises. A health event has the step at which it did arise.
  public let stage: ErrorStage
  /// How bad it is for the object that reports it.
  public let severity: ErrorSeverity
  /// What helps.
  public let advice: ErrorAdvice
  /// What happened and what to do about it, in a sentence; the same as `localizedDescription`.
  public let message: String

  package init(
    name: String, code: Int, stage: ErrorStage, severity: ErrorSeverity, advice: ErrorAdvice, message: String
  ) {
    self.name = name
    self.code = code
    self.stage = stage
    self.severity = severity
    self.advice = advice
    self.message = message
  }
}

extension ErrorFacts {
  /// The facts of an error that was caught as `any Error`; nil for one that is neither the interface's nor Glasswing's.
  /// (`MockDeviceKitError` has its facts in GlasswingTesting.)
  public init?(_ error: any Error) {
    switch error {
    case let error as StreamError: self = error.facts
    case let error as DeviceSessionError: self = error.facts
    case let error as PhotoError: self = error.facts
    case let error as PermissionError: self = error.facts
    case let error as RegistrationError: self = error.facts
    case let error as UnregistrationError: self = error.facts
    case let error as RegistrationRequestError: self = error.facts
    case let error as WearablesHandleURLError: self = error.facts
    case let error as NavigationError: self = error.facts
    case let error as WearablesError: self = error.facts
    case let error as any GlasswingError: self = error.facts
    default: return nil
    }
  }

  /// The same error, at the step where it arose.
  func at(_ stage: ErrorStage) -> ErrorFacts {
    ErrorFacts(name: name, code: code, stage: stage, severity: severity, advice: advice, message: message)
  }
}

extension ErrorFacts: CustomStringConvertible {
  /// A line for logs: `stream.timeout (504, terminal, at start): The glasses sent no pictures in time. …`
  public var description: String { "\(name) (\(code), \(severity), at \(stage)): \(message)" }
}

/// The step at which an error arose.
public enum ErrorStage: String, Codable, Hashable, Sendable, CaseIterable {
  /// Before anything was touched: arguments and settings.
  case configuration
  /// Registering the app with the companion, or undoing it.
  case registration
  /// Reading or asking for a permission.
  case permission
  /// Opening, using or ending a session.
  case session
  /// Looking for the device, its connection and the permission.
  case connect
  /// The glasses were asked for pictures, and none had come.
  case start
  /// Pictures came.
  case stream
  /// Pictures had stopped coming, and were waited for.
  case recovery
  /// The glasses had paused the session.
  case pause
  /// The session went on, and no picture had come since.
  case resume
  /// The link between app and glasses.
  case link
  /// The glasses themselves: hinge, heat, battery.
  case glasses
  /// Taking a photo or getting it here.
  case photo
  /// Making or opening a file.
  case open
  /// Reading a sample that an app or the link handed over.
  case input
  /// Turning compressed pictures into pixels.
  case decode
  /// Writing media.
  case write
  /// Completing a file.
  case finish
}

/// How bad an error is.
public enum ErrorSeverity: String, Codable, Hashable, Sendable, CaseIterable {
  /// Nothing is lost.
  case informational
  /// This one call or sample is lost; the object goes on.
  case recoverable
  /// The object is at its end, or at rest: what it did is over.
  case terminal
}

/// What helps against an error.
public enum ErrorAdvice: String, Codable, Hashable, Sendable, CaseIterable {
  /// The same again may work.
  case retry
  /// Wait for what comes next (a keyframe, a device, a lower temperature), then it works by itself.
  case wait
  /// A person has to do something, such as free space on the disk.
  case userAction
  /// The program has to ask for something else.
  case configuration
  /// Nothing does.
  case giveUp
}
