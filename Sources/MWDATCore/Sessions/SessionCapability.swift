import LinkProtocol

/// Something that works inside a session: a camera. The session holds it from `attach` until it ends or is detached;
/// it must hold the session weakly.
package protocol SessionCapability: AnyObject, Sendable {
  /// On the session's control lane, after listeners heard `.paused`.
  func sessionPaused(_ reason: SessionPaused.Reason)

  /// On the control lane, after listeners heard `.started` again.
  func sessionResumed()

  /// On the control lane, after listeners heard `.stopping` and before the session is `.stopped`: end now, without
  /// waiting. Called once, and last; the link takes messages still. Not called after `detach`.
  func sessionEnding()

  /// On the link lane: what the session does not consume itself, and the link's `.closed`.
  func sessionLinkEvent(_ event: LinkEvent)
}
