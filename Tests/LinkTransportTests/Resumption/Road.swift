import LinkProtocol
import LinkTransport
import Synchronization
import Units

/// A network between a client and a server, in memory, that breaks as a test says.
final class Road: Sendable {
  private struct State {
    var isFrozen = false
    var refuses = false
    var ends: [RoadEnd] = []
    var dialed = 0
  }

  private let state = Mutex(State())
  private let timekeeper: any Timekeeper
  private let latency: Duration
  let server: ResumableServer<String>

  init(
    timekeeper: any Timekeeper, latency: Duration = .zero,
    accepted: @escaping @Sendable (ResumableTransport, String) -> Void
  ) {
    self.timekeeper = timekeeper
    self.latency = latency
    server = ResumableServer(timekeeper: timekeeper, accepted: accepted)
  }

  var dialed: Int { state.withLock { $0.dialed } }
  var openEnds: Int { state.withLock { $0.ends.count { !$0.isClosed } } }

  /// What a dialer calls.
  func dial(as peer: String = "app") -> any ByteTransport {
    let pair = MemoryLink.makePair(timekeeper: timekeeper, latency: latency)
    let (isFrozen, refuses) = state.withLock { state in
      state.dialed += 1
      return (state.isFrozen, state.refuses)
    }
    let ends = [RoadEnd(pair.app), RoadEnd(pair.glasses)]
    state.withLock { $0.ends += ends }
    if refuses {
      pair.glasses.close()
    } else if isFrozen {
      // Never comes up, and never says so.
      for end in ends { end.freeze() }
    } else {
      server.accept(ends[1], from: peer)
    }
    return ends[0]
  }

  /// Every connection breaks, and both ends hear of it.
  func cut() {
    for end in state.withLock({ $0.ends }) { end.close() }
  }

  /// Nothing passes any more, and nobody hears of it. New connections never come up.
  func freeze() {
    let ends = state.withLock { state in
      state.isFrozen = true
      return state.ends
    }
    for end in ends { end.freeze() }
  }

  /// New connections come up again; what was frozen stays dead.
  func thaw() { state.withLock { $0.isFrozen = false } }

  func setRefuses(_ refuses: Bool) { state.withLock { $0.refuses = refuses } }
}

/// One end of a connection over the road.
final class RoadEnd: ByteTransport {
  private let inner: any ByteTransport
  private let isFrozen = Atomic(false)
  private let closed = Atomic(false)

  init(_ inner: any ByteTransport) { self.inner = inner }

  var isClosed: Bool { closed.load(ordering: .acquiring) }
  func freeze() { isFrozen.store(true, ordering: .releasing) }
  private var passes: Bool { !isFrozen.load(ordering: .acquiring) }

  func open(_ handlers: TransportHandlers) {
    inner.open(
      TransportHandlers(
        received: { [self] bytes in if passes { handlers.received(bytes) } },
        writable: { [self] in if passes { handlers.writable() } },
        closed: { [self] cause in
          closed.store(true, ordering: .releasing)
          handlers.closed(cause)
        }))
  }

  func write(_ bytes: [UInt8]) { if passes { inner.write(bytes) } }
  var writableBytes: Int { passes ? inner.writableBytes : 0 }
  func consumed(_ byteCount: Int) { inner.consumed(byteCount) }

  func close() {
    closed.store(true, ordering: .releasing)
    // A dead road tells nobody.
    if passes { inner.close() }
  }
}
