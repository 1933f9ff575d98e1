import Foundation

/// An error of this interface: `description` is a sentence for logs, and `localizedDescription` the same one for
/// people.
///
/// Not `CustomStringConvertible`: interpolating an error prints the case's name.
public protocol DatError: LocalizedError {
  /// What happened and what to do about it, in English.
  var description: String { get }
}

extension DatError {
  /// The text that `localizedDescription` shows; always `description`.
  public var errorDescription: String? { description }
}
