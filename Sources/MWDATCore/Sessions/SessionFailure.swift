import LinkProtocol

/// What ended a session, or kept it from starting: the error of the interface, and what it can't carry.
package struct SessionFailure: Equatable, Sendable {
  package var error: DeviceSessionError
  package var cause: FailureCause
  /// The glasses' own words, or the transport's; may be empty.
  package var text: String

  package init(_ error: DeviceSessionError, _ cause: FailureCause, text: String = "") {
    self.error = error
    self.cause = cause
    self.text = text
  }

  /// The cause as the glasses named it, if they did.
  package var code: LinkErrorCode? { cause.code }
}

extension SessionFailure {
  /// The wearer, or the glasses for a reason of their own, ended the session.
  static func endedByDevice(text: String = "") -> SessionFailure {
    SessionFailure(.unexpectedError(description: "Session ended by device"), .ended, text: text)
  }

  /// The glasses did not answer in time.
  static let noAnswer = SessionFailure(
    .dwaUnavailable, .silence, text: "the glasses did not answer the request for a session")

  /// The glasses closed the session, whether it was open or just asked for.
  static func closed(
    _ reason: SessionClosed.Reason, retryAfter: Duration? = nil, text: String, wasOpen: Bool
  ) -> SessionFailure {
    switch reason {
    case .requested, .endedByDevice: endedByDevice(text: text)
    case .failed(.hingeClosed) where wasOpen: endedByDevice(text: text)
    case .failed(let code): failed(code, retryAfter: retryAfter, text: text)
    }
  }

  /// The glasses named a cause.
  static func failed(_ code: LinkErrorCode, retryAfter: Duration? = nil, text: String) -> SessionFailure {
    SessionFailure(error(for: code, text: text), .reported(code, retryAfter: retryAfter), text: text)
  }

  /// The link under the session is gone.
  static func linkClosed(_ close: LinkClose, wasOpen: Bool) -> SessionFailure {
    switch close.cause {
    case .goodbye(let goodbye):
      switch goodbye.reason {
      case .finished, .poweringOff, .hingeClosed, .unpaired: endedByDevice(text: goodbye.text)
      case .versionMismatch: SessionFailure(.insufficientSDKVersion, .incompatible, text: goodbye.text)
      case .refused: unreachable(text: goodbye.text)
      case .protocolViolation, .internalError: linkLost("the glasses gave up", text: goodbye.text)
      }
    case .protocolError(let error):
      if case .versionMismatch(let peer) = error.cause {
        SessionFailure(
          peer.major > ProtocolVersion.current.major ? .insufficientSDKVersion : .datAppOnTheGlassesUpdateRequired,
          .incompatible)
      } else {
        linkLost("the glasses broke the protocol", text: "\(error.cause)")
      }
    case .transport(let cause):
      wasOpen ? linkLost("the connection broke", text: text(of: cause)) : unreachable(text: text(of: cause))
    case .silent:
      wasOpen ? linkLost("the glasses fell silent", .silence, text: "no sign of life came over the link") : noAnswer
    case .finished:
      linkLost("it was closed on this side", text: "")
    }
  }

  private static func linkLost(
    _ what: String, _ cause: FailureCause = .linkLost, text: String
  ) -> SessionFailure {
    SessionFailure(
      .unexpectedError(description: "The link to the glasses was lost: \(what)\(parenthesis(text))"), cause, text: text)
  }

  private static func unreachable(text: String) -> SessionFailure {
    SessionFailure(.dwaUnavailable, .linkLost, text: text)
  }

  private static func text(of cause: TransportClose) -> String {
    switch cause {
    case .peerClosed, .closedHere: ""
    case .failed(let text): text
    }
  }

  private static func parenthesis(_ text: String) -> String { text.isEmpty ? "" : " (\(text))" }

  private static func error(for code: LinkErrorCode, text: String) -> DeviceSessionError {
    switch code {
    case .thermalCritical: .thermalCritical
    case .thermalEmergency: .thermalEmergency
    case .batteryCritical: .batteryCritical
    case .peakPowerShutdown: .peakPowerShutdown
    case .timeout: .dwaUnavailable
    case .heldByOther: unexpected("Another app is using the glasses. Try again when it is done", text)
    case .hingeClosed: unexpected("The glasses are folded. Unfold them and start again", text)
    case .cameraPermissionDenied, .microphonePermissionDenied:
      unexpected("The permission is missing. Ask for it with requestPermission(_:)", text)
    case .unsupported: unexpected("The glasses can't do what the app asked for", text)
    case .thermalHot: unexpected("The glasses are hot. Let them cool down", text)
    case .batteryLow: unexpected("The glasses' battery is low. Charge them", text)
    case .peakPowerLimit: unexpected("The glasses can't give the power that this takes. Charge them", text)
    case .unknown, .internalError, .notOpen, .sourceFailed, .encoderFailed, .audioFailed, .photoFailed, .photoBusy:
      unexpected("The session failed on the glasses. Start a new one", text)
    }
  }

  private static func unexpected(_ sentence: String, _ text: String) -> DeviceSessionError {
    .unexpectedError(description: sentence + parenthesis(text))
  }
}
