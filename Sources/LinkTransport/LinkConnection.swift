import LinkProtocol
import Synchronization
import Units

/// Joins a `LinkEndpoint` to a `ByteTransport` on a lane of its own.
package final class LinkConnection: Sendable {
  /// The link lane: events arrive on it, in order, one at a time. It ends after `closed`.
  package let lane: any Lane

  package init(endpoint: LinkEndpoint, transport: any ByteTransport, timekeeper: any Timekeeper, name: String) {
    lane = timekeeper.makeLane(name)
  }

  /// Opens the transport and the link. Once; the handler is released after `closed`.
  package func start(_ handler: @escaping @Sendable (LinkEvent) -> Void) {}

  /// Any thread; order is kept for calls of one thread. Dropped after the end.
  package func send(_ message: Message) {}
  package func send(_ unit: AccessUnit) {}
  package func send(photo: PhotoID, bytes: [UInt8]) {}

  /// Leaves with a goodbye. Idempotent; `closed` follows within the farewell deadline.
  package func close(_ goodbye: Goodbye) {}

  package var statistics: LinkStatistics { LinkStatistics() }
}
