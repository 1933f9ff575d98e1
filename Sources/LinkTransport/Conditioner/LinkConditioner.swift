import LinkProtocol
import Synchronization
import Units

/// Faults of one pair of glasses' links, under the timekeeper, decided by a seed. They outlive the links: a rule, a cap
/// or a mute acts on each link that is joined through the conditioner, until it is taken back or `clear` takes all.
package final class LinkConditioner: Sendable {
  package init(timekeeper: any Timekeeper, seed: UInt64) {}

  /// Adds a rule. It stays until it has nothing left to match, or `clear`. Where several match, the first that was
  /// applied acts; each counts for itself.
  ///
  /// - Parameter syncOnly: nil for any unit; on the video channel, true for sync units only and false for others only,
  ///   in counting as in acting. Elsewhere of no effect.
  package func apply(
    _ action: Action, to part: Part, _ which: Which, on channel: Channel, _ direction: Direction = .toApp,
    syncOnly: Bool? = nil
  ) {}

  /// Lets the units of a channel vanish while everything else lives.
  package func mute(_ channel: Channel, _ direction: Direction = .toApp) {}
  package func unmute(_ channel: Channel, _ direction: Direction = .toApp) {}

  /// Caps the rate; nil for no cap.
  package func limit(_ rate: Bitrate?, _ direction: Direction = .toApp) {}

  /// Lets bytes take time on the way, and up to `jitter` more.
  package func setLatency(_ latency: Duration, jitter: Duration = .zero, _ direction: Direction = .toApp) {}

  /// Half-open: nothing gets through, nothing is closed. Both directions make a dead peer.
  package func hold(_ direction: Direction) {}

  /// What was held comes at once, in order.
  package func release(_ direction: Direction) {}

  /// The transports of all links break now, and both ends see it.
  package func cut() {}

  /// No faults any more; what waits goes on.
  package func clear() {}

  /// What was done, with times.
  package var log: [Event] { [] }

  /// Wraps the two ends of a link.
  package func join(
    app: any ByteTransport, glasses: any ByteTransport
  ) -> (app: any ByteTransport, glasses: any ByteTransport) { (app, glasses) }
}
