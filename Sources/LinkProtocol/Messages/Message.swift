import Units

/// Everything that travels on the control channel. The layout of each is in docs/protocol.md and pinned byte by byte
/// by `MessageFixtureTests`; the type codes are in `MessageType`.
package enum Message: Hashable, Sendable {
  // The link itself
  case hello(Hello)
  case goodbye(Goodbye)
  case ping(Ping)
  case pong(Ping)
  case clockRequest(ClockRequest)
  case clockReply(ClockReply)
  case feedback(Feedback)
  case failure(Failure)

  // The glasses
  case deviceState(DeviceStateReport)

  // A session
  case sessionOpen(SessionOpen)
  case sessionOpened(SessionOpened)
  case sessionPaused(SessionPaused)
  case sessionResumed(SessionResumed)
  case sessionClose(SessionClose)
  case sessionClosed(SessionClosed)

  // A stream
  case streamStart(StreamStart)
  case streamStarted(StreamStarted)
  case streamChanged(StreamChanged)
  case streamStop(StreamStop)
  case streamStopped(StreamStopped)
  case keyframeRequest(KeyframeRequest)
  case audioChanged(AudioChanged)

  // Photos
  case photoRequest(PhotoRequest)
  case photoResult(PhotoResult)

  // Pairing
  case pairingRequest(PairingRequest)
  case pairingAccepted(PairingAccepted)
  case unpair(Unpair)

  // The companion and apps
  case glassesListing(GlassesListing)
  case glassesRemoved(GlassesRemoved)
  case glassesListed(GlassesListed)
  case certificateRequest(CertificateRequest)
  case certificateIssued(CertificateIssued)
  case pairGlasses(PairGlasses)
  case unpairGlasses(UnpairGlasses)
  case companionAnswer(CompanionAnswer)
}

// MARK: - Identities

/// Numbers a session within one link; chosen by the app, never 0.
package struct SessionID: Hashable, Sendable {
  package let value: UInt32
  package init(_ value: UInt32) { self.value = value }
}

/// Numbers a stream within one link; chosen by the app, never 0, not used again on that link.
package struct StreamID: Hashable, Sendable {
  package let value: UInt32
  package init(_ value: UInt32) { self.value = value }
}

/// Numbers a photo within one link; chosen by the app, never 0, not used again on that link.
package struct PhotoID: Hashable, Sendable {
  package let value: UInt32
  package init(_ value: UInt32) { self.value = value }
}
