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

extension GlasswingError {
  /// All of that as a value.
  public var facts: ErrorFacts {
    ErrorFacts(name: name, code: code, stage: stage, severity: severity, advice: advice, message: message)
  }
}
