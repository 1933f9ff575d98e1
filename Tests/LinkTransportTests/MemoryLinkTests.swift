import LinkProtocol
import LinkTransport
import TestSupport
import Testing
import Units

@Suite("Memory link")
struct MemoryLinkTests {
  private enum Happening: Equatable, Sendable {
    case received([UInt8])
    case writable
    case closed(TransportClose)
  }

  private func handlers(_ observed: Observed<Happening>) -> TransportHandlers {
    TransportHandlers(
      received: { observed.record(.received($0)) }, writable: { observed.record(.writable) },
      closed: { observed.record(.closed($0)) })
  }

  @Test("keeps what is written before the other end opens, and hands it over in order")
  func early() {
    let pair = MemoryLink.makePair(timekeeper: ManualTimekeeper())
    let glasses = Observed<Happening>()
    pair.app.write([1])
    pair.app.write([2, 3])
    pair.app.write([])
    pair.glasses.open(handlers(glasses))
    pair.app.write([4])
    #expect(glasses.values == [.received([1]), .received([2, 3]), .received([4])])
    // A second opening does nothing.
    pair.glasses.open(handlers(Observed()))
    pair.app.write([5])
    #expect(glasses.values.last == .received([5]))
  }

  @Test("slows the writer by what the reader has not consumed")
  func backpressure() {
    let pair = MemoryLink.makePair(timekeeper: ManualTimekeeper(), capacity: 4096)
    let app = Observed<Happening>()
    pair.app.open(handlers(app))
    pair.glasses.open(handlers(Observed()))
    #expect(pair.app.writableBytes == 4096)
    pair.app.write([UInt8](repeating: 0, count: 4000))
    #expect(pair.app.writableBytes == 96)
    // Taken whole all the same.
    pair.app.write([UInt8](repeating: 0, count: 1000))
    #expect(pair.app.writableBytes == 0)
    pair.glasses.consumed(1000)
    #expect(pair.app.writableBytes == 96)
    #expect(app.values.isEmpty)
    pair.glasses.consumed(3000)
    #expect(app.values == [.writable])
    pair.glasses.consumed(1_000_000)
    #expect(pair.app.writableBytes == 4096)
    #expect(app.values == [.writable])
    #expect(pair.glasses.writableBytes == 4096)
  }

  @Test("closes both ends once, after what was written")
  func close() {
    let pair = MemoryLink.makePair(timekeeper: ManualTimekeeper())
    let (app, glasses) = (Observed<Happening>(), Observed<Happening>())
    pair.app.open(handlers(app))
    pair.app.write([7])
    pair.app.close()
    pair.app.close()
    pair.app.write([8])
    pair.glasses.open(handlers(glasses))
    pair.glasses.write([9])
    pair.glasses.close()
    #expect(app.values == [.closed(.closedHere)])
    #expect(glasses.values == [.received([7]), .closed(.peerClosed)])
    #expect(pair.app.writableBytes == 0 && pair.glasses.writableBytes == 0)
  }

  @Test("notices an end that is released")
  func vanishing() {
    var pair: (app: any ByteTransport, glasses: any ByteTransport)? = MemoryLink.makePair(
      timekeeper: ManualTimekeeper())
    let glasses = Observed<Happening>()
    let kept = pair?.glasses
    kept?.open(handlers(glasses))
    pair = nil
    #expect(glasses.values == [.closed(.peerClosed)])
    withExtendedLifetime(kept) {}
  }

  @Test("with latency delivers when the time has come, in order")
  func latency() {
    let timekeeper = ManualTimekeeper()
    let pair = MemoryLink.makePair(timekeeper: timekeeper, latency: .milliseconds(20))
    let glasses = Observed<Happening>()
    pair.glasses.open(handlers(glasses))
    pair.app.write([1])
    timekeeper.advance(by: .milliseconds(10))
    pair.app.write([2])
    pair.app.close()
    timekeeper.advance(by: .milliseconds(9))
    #expect(glasses.values.isEmpty)
    timekeeper.advance(by: .milliseconds(1))
    #expect(glasses.values == [.received([1])])
    timekeeper.advance(by: .milliseconds(10))
    #expect(glasses.values == [.received([1]), .received([2]), .closed(.peerClosed)])
  }

  @Test("calls one end's handlers one at a time, whoever writes")
  func serial() async throws {
    let pair = MemoryLink.makePair(timekeeper: SystemTimekeeper.shared, capacity: 1 << 30)
    let detector = OverlapDetector()
    let bytes = Observed<UInt8>()
    pair.glasses.open(
      TransportHandlers(
        received: { received in
          detector.run { for byte in received { bytes.record(byte) } }
        }, writable: {}, closed: { _ in }))
    await withTaskGroup { group in
      for writer in 0..<4 {
        group.addTask { for _ in 0..<200 { pair.app.write([UInt8(writer)]) } }
      }
    }
    try await bytes.wait { $0.count == 800 }
    #expect(detector.overlaps == 0)
  }
}
