import MWDATCore

/// What ended an attempt of a stream: the error of the interface, and what it can't carry.
package struct StreamFailure: Equatable, Sendable {
  package var error: StreamError
  package var cause: FailureCause
  /// In words of whoever knows the cause; may be empty.
  package var text: String

  package init(_ error: StreamError, _ cause: FailureCause, text: String = "") {
    self.error = error
    self.cause = cause
    self.text = text
  }
}
