import LinkProtocol
import Units

/// A pair of transports joined in memory.
package enum MemoryLink {
  /// - Parameters:
  ///   - capacity: bytes that may be under way in each direction before the writer has to wait.
  ///   - latency: how long bytes travel, each way.
  package static func makePair(
    timekeeper: any Timekeeper, capacity: Int = 262_144, latency: Duration = .zero
  ) -> (app: any ByteTransport, glasses: any ByteTransport) {
    let pipe = MemoryPipe()
    return (pipe, pipe)
  }
}

private final class MemoryPipe: ByteTransport {
  func open(_ handlers: TransportHandlers) {}
  func write(_ bytes: [UInt8]) {}
  var writableBytes: Int { 0 }
  func consumed(_ byteCount: Int) {}
  func close() {}
}
