import LinkProtocol
import Units

/// Something about a stream that its public events don't say, as it happens.
package struct StreamTelemetryEvent: Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    case started(StreamID)
    /// The glasses agreed to these parameters.
    case negotiated(VideoParameters)
    /// The glasses change size or rate; before the first frame in the new form.
    case changed(from: VideoParameters?, to: VideoParameters, StreamChanged.Reason)
    /// So many units are missing; what depends on them is withheld, so many units by now.
    case gap(lost: Int, withheld: UInt64)
    case keyframeRequested(KeyframeRequest.Reason)
    /// A sync unit ended a wait; so many units were withheld in it.
    case keyframeArrived(withheld: UInt64)
    /// The decoder fell behind, and so many units were dropped up to the next sync unit.
    case decoderBehind(dropped: Int)
    case decoderFailed(text: String)
    /// A listener was too slow for so many frames since this was last told of it.
    case listenerBehind(listener: Int, dropped: Int)
    /// The glasses say what they send as sound, or that it changes; before the first sound in the new form.
    case audioChanged(from: LinkAudioStatus?, to: LinkAudioStatus)
    /// So many samples of each channel, which are so long, are missing between what listeners had and have since this was
    /// last told.
    case audioGap(samples: Int, length: Duration)
    /// Units of sound were not what they say they are; so many since this was last told.
    case audioUnusable(units: Int)
    /// As `listenerBehind`, of the listeners for sound.
    case audioListenerBehind(listener: Int, dropped: Int)
    /// The glasses' clock jumped: stamps are later by this than they would have been.
    case clockRealigned(by: Duration)
    /// `.waitingForDevice` begins, or goes on for another reason; until then at the latest.
    case waiting(WaitReason, until: Instant?)
    /// No unit has passed since `since`, or no sound has come. It is waited for until then at the latest; nil: not at all,
    /// since the stream has stalled too often or for too long.
    case stallBegan(since: Instant, of: StreamMachine.Medium, until: Instant?)
    /// A unit passed again, or the stream ended.
    case stallEnded(since: Instant, length: Duration)
    /// Nothing at all has come over the link since the stall's last look; the stall's own end stays what it was.
    case reconnecting(until: Instant?)
    /// Something came again after so long.
    case reconnected(after: Duration)
    /// The glasses hold the session, for this reason, and no longer; told while an attempt is under way.
    case paused(SessionPaused.Reason)
    case resumed
    case failed(StreamFailure)
    /// A capture ended without a photo.
    case photoFailed(text: String)
  }

  /// What `.waitingForDevice` waits for.
  package enum WaitReason: Hashable, Sendable, CaseIterable {
    /// The answer about device and permission.
    case permission
    /// The session goes on.
    case pausedSession
    /// The link says something.
    case silentLink
  }

  /// On the host's monotonic clock.
  package var time: Instant
  package var kind: Kind

  package init(_ kind: Kind, at time: Instant) {
    self.kind = kind
    self.time = time
  }
}
