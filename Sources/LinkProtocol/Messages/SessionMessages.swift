import Units

/// App to glasses: begin a session. Answered by `sessionOpened` or `sessionClosed` with a reason.
package struct SessionOpen: Hashable, Sendable {
  package var session: SessionID
  package init(session: SessionID) { self.session = session }
}

package struct SessionOpened: Hashable, Sendable {
  package var session: SessionID
  package init(session: SessionID) { self.session = session }
}

/// Glasses to app: the session rests; no media until `sessionResumed`. Only glasses pause a session.
package struct SessionPaused: Hashable, Sendable {
  package enum Reason: UInt8, Hashable, Sendable, CaseIterable { case wearer = 1, thermal, system }
  package var session: SessionID
  package var reason: Reason
  package init(session: SessionID, reason: Reason) {
    self.session = session
    self.reason = reason
  }
}

package struct SessionResumed: Hashable, Sendable {
  package var session: SessionID
  package init(session: SessionID) { self.session = session }
}

/// App to glasses: end the session and all its streams. Answered by `sessionClosed`.
package struct SessionClose: Hashable, Sendable {
  package var session: SessionID
  package init(session: SessionID) { self.session = session }
}

/// Glasses to app: the session is over, asked for or not; nothing of it follows.
package struct SessionClosed: Hashable, Sendable {
  package enum Reason: Hashable, Sendable {
    /// The app asked.
    case requested
    /// The wearer or the glasses ended it.
    case endedByDevice
    /// It failed, or could not begin.
    case failed(LinkErrorCode)
  }
  package var session: SessionID
  package var reason: Reason
  /// Of a failure: when a new try may succeed; nil when nobody knows. In whole milliseconds on the link.
  package var retryAfter: Duration?
  package var text: String
  package init(session: SessionID, reason: Reason, retryAfter: Duration? = nil, text: String = "") {
    self.session = session
    self.reason = reason
    self.retryAfter = retryAfter
    self.text = text
  }
}
