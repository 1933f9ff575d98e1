import MWDATCore

/// What ended an attempt of a stream: the error of the interface, and what it can't carry.
package struct StreamFailure: Equatable, Sendable {
  package var error: StreamError
  package var cause: FailureCause
  /// The step at which it failed.
  package var stage: StreamMachine.Stage
  /// In words of whoever knows the cause: which file, what is wrong with it. May be empty.
  package var text: String

  package init(_ error: StreamError, _ cause: FailureCause, at stage: StreamMachine.Stage, text: String = "") {
    self.error = error
    self.cause = cause
    self.stage = stage
    self.text = text
  }
}
