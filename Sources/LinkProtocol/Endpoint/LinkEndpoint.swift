import Units

/// One side of a link as a value: bytes, messages and the time go in; events, bytes and the next deadline come out.
///
/// It reads no clock and does no input or output. The rule for its owner: one input, then drain `nextEvent` and
/// `nextBytes`, then look at `nextDeadline` and call `timeout(at:)` when it has come. Times never step back.
package struct LinkEndpoint: Sendable {
  private var events: [LinkEvent] = []

  /// - Parameters:
  ///   - hello: what this side says first; its role decides who asks whom for the time.
  ///   - deviceClock: on glasses, the clock that their clock replies are read from.
  package init(hello: Hello, deviceClock: DeviceClock = .identity, limits: LinkLimits = LinkLimits()) {}

  /// The transport is up: the hello leaves, and the peer's is due by a deadline. Once.
  package mutating func opened(at now: Instant) {}

  /// Bytes of the peer, in any portions.
  package mutating func received(_ bytes: [UInt8], at now: Instant) {}

  /// The transport is over.
  package mutating func transportClosed(_ cause: TransportClose, at now: Instant) {}

  /// Queues a message. Before the link is open it waits until it is; after its end it is dropped.
  package mutating func send(_ message: Message, at now: Instant) {}

  /// Queues an access unit. A queue that has grown too old drops to the next sync unit (`videoDropped`).
  package mutating func send(_ unit: AccessUnit, at now: Instant) {}

  /// Queues a photo's bytes.
  package mutating func send(photo: PhotoID, bytes: [UInt8], at now: Instant) {}

  /// Leaves: nothing but the goodbye is sent any more, then the link closes. The first call counts.
  package mutating func finish(_ goodbye: Goodbye, at now: Instant) {}

  /// Call when `nextDeadline` has come; too early does nothing.
  package mutating func timeout(at now: Instant) {}

  package mutating func nextEvent() -> LinkEvent? { nil }

  /// The most urgent chunks that fit, or nil when nothing waits or not even one chunk fits.
  package mutating func nextBytes(atMost limit: Int, at now: Instant) -> [UInt8]? { nil }

  /// When `timeout(at:)` is due; nil before the opening and after the end.
  package var nextDeadline: Instant? { nil }

  package var statistics: LinkStatistics { LinkStatistics() }
}
