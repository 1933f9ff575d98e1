import Units

/// What an endpoint tells its owner, in the order in which it happened.
package enum LinkEvent: Hashable, Sendable {
  /// The peer's hello arrived and was accepted; the first event of a link that opens.
  case opened(Hello)
  /// A message that the endpoint does not deal with itself: of devices, sessions, streams, photos, failures, feedback.
  case message(Message)
  case accessUnit(ReceivedUnit)
  case audio(ReceivedAudio)
  /// Bytes of a photo that have arrived without a gap, of its whole length. Once for each input that brought some.
  case photoProgress(PhotoID, received: Int, total: Int)
  case photo(PhotoID, bytes: [UInt8])
  /// On the sending side: the video queue ran over, and this many units of the stream were dropped. What is sent next
  /// of it is a sync unit; if `needsSync`, none is waiting and the encoder must make one.
  case videoDropped(StreamID, units: Int, needsSync: Bool)
  /// On the sending side: the audio queue ran over, and this many units of the stream were dropped, the oldest. The next
  /// one of it says so.
  case audioDropped(StreamID, units: Int)
  /// Nothing has been heard from the peer for `LinkLimits.lease`. What it borrowed from this side is free from now on;
  /// what it owns stays until the link closes. Followed by `heardAgain` or `closed`.
  case silent(since: Instant)
  /// A peer that was silent is heard again, after so long; before what it says.
  case heardAgain(after: Duration)
  /// The peer's clock stood still or jumped, and its times are mapped anew: to later ones when this is positive. Media
  /// of a running stream keep increasing stamps.
  case clockRealigned(by: Duration)
  /// Exactly once, and last.
  case closed(LinkClose)
}

/// An access unit as it came out of the link.
package struct ReceivedUnit: Hashable, Sendable {
  package var unit: AccessUnit
  /// The unit's number on the video channel.
  package var sequence: UInt32
  /// The capture time on this host's clock. Within a stream it strictly increases; it is never after `arrived`.
  package var presentation: Instant
  /// When the unit was whole.
  package var arrived: Instant
  /// Units of the video channel that are missing since the unit of this stream before this one.
  package var lostBefore: Int

  package init(unit: AccessUnit, sequence: UInt32, presentation: Instant, arrived: Instant, lostBefore: Int) {
    self.unit = unit
    self.sequence = sequence
    self.presentation = presentation
    self.arrived = arrived
    self.lostBefore = lostBefore
  }
}

/// Why a link is over.
package struct LinkClose: Error, Hashable, Sendable {
  package enum Cause: Hashable, Sendable {
    /// The peer left and said why.
    case goodbye(Goodbye)
    /// This side left.
    case finished
    /// The transport ended under the link, without a goodbye.
    case transport(TransportClose)
    /// The peer's bytes, or this side's backlog, broke the protocol.
    case protocolError(LinkProtocolError)
    /// Nothing was heard from the peer by the deadline.
    case silent
  }
  package var cause: Cause
  package var at: Instant

  package init(_ cause: Cause, at: Instant) {
    self.cause = cause
    self.at = at
  }
}

/// Why a transport is over.
package enum TransportClose: Error, Hashable, Sendable {
  /// The peer's end was closed, in order.
  case peerClosed
  /// This end was closed.
  case closedHere
  /// It broke, or never came up; in words, with the system's own text where there is one.
  case failed(String)
}
