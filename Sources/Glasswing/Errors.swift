import Foundation

/// What every error of Glasswing's own modules says about itself.
///
/// The errors themselves are enums that print their case name, compare, hash and can be stored as JSON; `message` is
/// the sentence for people, the same as `localizedDescription`.
public protocol GlasswingError: LocalizedError, Codable, Hashable, Sendable {
  /// A name that doesn't change between releases: `recorder.diskFull`.
  var name: String { get }
  /// A number that doesn't change between releases, one for each case of all errors.
  var code: Int { get }
  /// Where it happened.
  var stage: ErrorStage { get }
  /// How bad it is for the object that reports it.
  var severity: ErrorSeverity { get }
  /// What helps.
  var advice: ErrorAdvice { get }
  /// What is wrong and with what, in a sentence.
  var message: String { get }
}

extension GlasswingError {
  public var errorDescription: String? { message }
}

/// The step at which an error arose.
public enum ErrorStage: String, Codable, Hashable, Sendable, CaseIterable {
  /// Before anything was touched: arguments and settings.
  case configuration
  /// A session with glasses, or something in it.
  case session
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
  /// The object is at its end.
  case terminal
}

/// What helps against an error.
public enum ErrorAdvice: String, Codable, Hashable, Sendable, CaseIterable {
  /// The same again may work.
  case retry
  /// Wait for what comes next (a keyframe, a device), then it works by itself.
  case wait
  /// A person has to do something, such as free space on the disk.
  case userAction
  /// The program has to ask for something else.
  case configuration
  /// Nothing does.
  case giveUp
}
