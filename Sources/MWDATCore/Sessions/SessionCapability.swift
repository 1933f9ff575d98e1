import LinkProtocol

/// Something that works inside a session: a camera. The session holds it from `attach` until it ends or is detached;
/// it must hold the session weakly.
package protocol SessionCapability: AnyObject, Sendable {
  /// On the link lane, in order with what comes over the link, whatever the session's listeners do.
  func sessionPaused(_ reason: SessionPaused.Reason)

  /// Likewise: before what comes after the rest.
  func sessionResumed()

  /// Likewise, when the session is `.stopping` and before it is `.stopped`: end now, without waiting. Called once, and
  /// last; the link takes messages still. Not called after `detach`.
  func sessionEnding()

  /// On the link lane: what the session does not consume itself, and the link's `.closed`.
  func sessionLinkEvent(_ event: LinkEvent)
}
