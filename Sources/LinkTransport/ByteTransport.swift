import LinkProtocol

/// A reliable, ordered stream of bytes to one peer: memory, TCP, a Unix socket, RFCOMM.
///
/// All members are safe to call from any thread and return at once.
package protocol ByteTransport: AnyObject, Sendable {
  /// Begins to connect, or to hand over what has arrived. Once; a second call does nothing.
  func open(_ handlers: TransportHandlers)

  /// Takes the bytes whole, whatever `writableBytes` says; after the end they are dropped.
  func write(_ bytes: [UInt8])

  /// How many bytes may be written now; little, so that what waits stays where it can still be reordered and dropped.
  /// 0 before the transport is up and after its end.
  var writableBytes: Int { get }

  /// The owner is done with so many of the bytes that it was handed. A transport hands over no more than it buffers
  /// until earlier ones were consumed: that is how a slow reader slows the writer.
  func consumed(_ byteCount: Int)

  /// Ends it. What was written before still goes to the peer as far as it takes it; then the peer sees `peerClosed`.
  /// Idempotent.
  func close()
}

/// What a transport calls, one call at a time and in order, on any thread. They must not block.
package struct TransportHandlers: Sendable {
  package var received: @Sendable ([UInt8]) -> Void
  /// There is room again, after `writableBytes` had become less than half of what it is at best.
  package var writable: @Sendable () -> Void
  /// Once, and last.
  package var closed: @Sendable (TransportClose) -> Void

  package init(
    received: @escaping @Sendable ([UInt8]) -> Void, writable: @escaping @Sendable () -> Void,
    closed: @escaping @Sendable (TransportClose) -> Void
  ) {
    self.received = received
    self.writable = writable
    self.closed = closed
  }
}
