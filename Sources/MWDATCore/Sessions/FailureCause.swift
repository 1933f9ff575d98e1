import LinkProtocol

/// Where the failure of a session or stream comes from, beneath the interface's error, which has fewer cases.
package enum FailureCause: Hashable, Sendable {
  /// The glasses named it, perhaps with the time after which a new try may succeed.
  case reported(LinkErrorCode, retryAfter: Duration? = nil)
  /// The glasses or their wearer ended it, for no cause that they name.
  case ended
  /// What was awaited of the glasses did not come in time.
  case silence
  /// The connection broke, or never came up.
  case linkLost
  /// App and glasses speak different versions.
  case incompatible
  /// It arose on this side; the text says what.
  case here

  package var code: LinkErrorCode? {
    switch self {
    case .reported(let code, _): code
    case .ended, .silence, .linkLost, .incompatible, .here: nil
    }
  }

  /// What the end of the link is to whoever worked on it.
  package init(_ close: LinkClose) {
    self =
      switch close.cause {
      case .goodbye(let goodbye):
        switch goodbye.reason {
        case .finished, .poweringOff, .hingeClosed, .unpaired: .ended
        case .versionMismatch: .incompatible
        case .protocolViolation, .internalError, .refused: .linkLost
        }
      case .protocolError(let error):
        if case .versionMismatch = error.cause { .incompatible } else { .linkLost }
      case .transport: .linkLost
      case .silent: .silence
      case .finished: .here
      }
  }
}
