import LinkProtocol
import Synchronization
import Units

/// A pair of transports joined in memory.
package enum MemoryLink {
  /// - Parameters:
  ///   - capacity: bytes that may be under way in each direction, written and not yet consumed, before the writer has
  ///     to wait; at least 1 KiB.
  ///   - latency: how long bytes travel, each way. Without it they are handed over on the writer's thread.
  package static func makePair(
    timekeeper: any Timekeeper, capacity: Int = 262_144, latency: Duration = .zero
  ) -> (app: any ByteTransport, glasses: any ByteTransport) {
    let wire = latency > .zero ? MemoryWire(timekeeper: timekeeper, latency: latency) : nil
    let ends = (Courier(), Courier())
    let pipe = MemoryPipe(couriers: [ends.0, ends.1], capacity: max(1024, capacity), wire: wire)
    return (MemoryTransport(pipe: pipe, side: 0), MemoryTransport(pipe: pipe, side: 1))
  }
}

/// One end of a pipe. Closed when it is released, so that an owner that vanishes is noticed.
private final class MemoryTransport: ByteTransport {
  private let pipe: MemoryPipe
  private let side: Int

  init(pipe: MemoryPipe, side: Int) {
    self.pipe = pipe
    self.side = side
  }

  deinit { pipe.close(side) }

  func open(_ handlers: TransportHandlers) { pipe.open(side, handlers) }
  func write(_ bytes: [UInt8]) { pipe.write(bytes, from: side) }
  var writableBytes: Int { pipe.room(for: side) }
  func consumed(_ byteCount: Int) { pipe.consumed(byteCount, by: side) }
  func close() { pipe.close(side) }
}

/// Both directions of a memory link.
private final class MemoryPipe: Sendable {
  private struct End {
    /// Bytes to this end that it has not consumed.
    var underWay = 0
    var isClosed = false
  }

  private let ends = Mutex<[End]>([End(), End()])
  private let couriers: [Courier]
  private let capacity: Int
  private let wire: MemoryWire?

  init(couriers: [Courier], capacity: Int, wire: MemoryWire?) {
    self.couriers = couriers
    self.capacity = capacity
    self.wire = wire
  }

  func open(_ side: Int, _ handlers: TransportHandlers) { couriers[side].open(handlers) }

  func write(_ bytes: [UInt8], from side: Int) {
    guard !bytes.isEmpty else { return }
    let isOpen = ends.withLock { ends in
      guard !ends[side].isClosed, !ends[1 - side].isClosed else { return false }
      ends[1 - side].underWay += bytes.count
      return true
    }
    if isOpen { carry(.received(bytes), to: 1 - side) }
  }

  func room(for side: Int) -> Int {
    ends.withLock { ends in
      guard !ends[side].isClosed, !ends[1 - side].isClosed else { return 0 }
      return max(0, capacity - ends[1 - side].underWay)
    }
  }

  func consumed(_ byteCount: Int, by side: Int) {
    let isRoomAgain = ends.withLock { ends in
      let half = capacity / 2
      let before = ends[side].underWay
      ends[side].underWay = max(0, before - byteCount)
      return before > half && ends[side].underWay <= half && !ends[1 - side].isClosed
    }
    if isRoomAgain { couriers[1 - side].deliver(.writable) }
  }

  func close(_ side: Int) {
    let isFirst = ends.withLock { ends in
      defer { ends[side].isClosed = true }
      return !ends[side].isClosed
    }
    guard isFirst else { return }
    couriers[side].deliver(.closed(.closedHere))
    carry(.closed(.peerClosed), to: 1 - side)
  }

  private func carry(_ delivery: Courier.Delivery, to side: Int) {
    guard let wire else {
      couriers[side].deliver(delivery)
      return
    }
    wire.carry { [courier = couriers[side]] in courier.deliver(delivery) }
  }
}

/// What takes time on the way; in order, since equal deadlines keep theirs and later ones are later.
private final class MemoryWire: Sendable {
  private let timekeeper: any Timekeeper
  private let latency: Duration
  private let lane: any Lane

  init(timekeeper: any Timekeeper, latency: Duration) {
    self.timekeeper = timekeeper
    self.latency = latency
    lane = timekeeper.makeLane("memory wire")
  }

  deinit { lane.end() }

  func carry(_ work: @escaping @Sendable () -> Void) {
    // The wire lives until its last delivery.
    lane.run(at: timekeeper.now + latency) { [self] in withExtendedLifetime(self, work) }
  }
}
