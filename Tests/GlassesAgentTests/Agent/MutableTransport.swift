import LinkTransport
import Synchronization

/// A transport whose bytes vanish, both ways and without a word, once it is muted: a peer that walked out of reach.
final class MutableTransport: ByteTransport {
  private let inner: any ByteTransport
  private let isMuted = Atomic<Bool>(false)

  init(_ inner: any ByteTransport) { self.inner = inner }

  func mute() { isMuted.store(true, ordering: .releasing) }

  func open(_ handlers: TransportHandlers) {
    inner.open(
      TransportHandlers(
        received: { [weak self] bytes in
          guard let self else { return }
          if isMuted.load(ordering: .acquiring) { inner.consumed(bytes.count) } else { handlers.received(bytes) }
        }, writable: handlers.writable,
        closed: { [weak self] cause in
          if self?.isMuted.load(ordering: .acquiring) != true { handlers.closed(cause) }
        }))
  }

  func write(_ bytes: [UInt8]) {
    if !isMuted.load(ordering: .acquiring) { inner.write(bytes) }
  }

  var writableBytes: Int { inner.writableBytes }
  func consumed(_ byteCount: Int) { inner.consumed(byteCount) }
  func close() { inner.close() }
}
