import LinkProtocol
import Trust

/// A transport that never comes up: what a dialer gives where not even a connection can be begun.
package final class FailedTransport: ByteTransport {
  private let courier = Courier()
  private let words: String

  /// - Parameter words: why.
  package init(_ words: String) { self.words = words }

  package func open(_ handlers: TransportHandlers) {
    courier.open(handlers)
    courier.deliver(.closed(.failed(words)))
  }

  package func write(_ bytes: [UInt8]) {}
  package var writableBytes: Int { 0 }
  package func consumed(_ byteCount: Int) {}
  package func close() { courier.deliver(.closed(.closedHere)) }
}

extension SecureTransport {
  /// A client's connection, not opened: what a dialer makes. One that OpenSSL can't do fails when it is opened.
  package static func dialing(
    over inner: any ByteTransport, _ configuration: TLSConfiguration, timekeeper: any Timekeeper
  ) -> any ByteTransport {
    do throws(TLSError) {
      return try SecureTransport(over: inner, configuration, timekeeper: timekeeper)
    } catch {
      return FailedTransport("\(error)")
    }
  }
}
