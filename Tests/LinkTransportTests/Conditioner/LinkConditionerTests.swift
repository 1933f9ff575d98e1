import LinkProtocol
import LinkTransport
import TestSupport
import Testing
import Units

@Suite("Link conditioner")
struct LinkConditionerTests {
  private enum Happening: Equatable, Sendable {
    case received([UInt8])
    case writable
    case closed(TransportClose)
  }

  /// A memory link under faults, its ends open.
  private final class World {
    let clock = ManualTimekeeper()
    let conditioner: LinkConditioner
    var pair: (app: any ByteTransport, glasses: any ByteTransport)?
    /// The memory link's own end.
    weak var inner: (any ByteTransport)?
    let app = Observed<Happening>()
    let glasses = Observed<Happening>()

    init(seed: UInt64 = 1) {
      conditioner = LinkConditioner(timekeeper: clock, seed: seed)
      let wire = MemoryLink.makePair(timekeeper: clock)
      inner = wire.app
      pair = conditioner.join(app: wire.app, glasses: wire.glasses)
      pair?.app.open(Self.handlers(app))
      pair?.glasses.open(Self.handlers(glasses))
    }

    static func handlers(_ observed: Observed<Happening>) -> TransportHandlers {
      TransportHandlers(
        received: { observed.record(.received($0)) }, writable: { observed.record(.writable) },
        closed: { observed.record(.closed($0)) })
    }

    func atApp() -> [UInt8] {
      app.values.flatMap { happening -> [UInt8] in
        guard case .received(let bytes) = happening else { return [] }
        return bytes
      }
    }
  }

  @Test("without a fault bytes pass as they were written, at once")
  func passing() {
    let world = World()
    world.pair?.glasses.write([1, 2, 3])
    world.pair?.app.write([4])
    #expect(world.app.values == [.received([1, 2, 3])])
    #expect(world.glasses.values == [.received([4])])
    #expect(world.conditioner.log.isEmpty)
    // Also after a fault that has done its work.
    world.conditioner.apply(.drop, to: .unit, .next(0), on: .video)
    let two = unit(0) + unit(1)
    world.pair?.glasses.write(two)
    #expect(world.app.values.last == .received(unit(1)))
    world.pair?.glasses.write(two)
    #expect(world.app.values.last == .received(two))
  }

  @Test("a cap makes the writer wait and hands bytes over at its rate")
  func cap() {
    let world = World()
    world.conditioner.limit(.kilobitsPerSecond(800))
    var sent = 0
    for _ in 0..<1000 {
      while let room = world.pair?.glasses.writableBytes, room >= 1016 {
        world.pair?.glasses.write(unit(UInt32(sent), bytes: 1000))
        sent += 1
      }
      world.clock.advance(by: .milliseconds(1))
    }
    // 100 bytes a millisecond.
    #expect((99_000...100_000).contains(world.atApp().count))
    #expect(sent * 1016 - world.atApp().count <= 9000)
    #expect(world.pair.map { $0.app.writableBytes } == 262_144)
    world.conditioner.limit(nil)
    #expect(world.atApp().count == sent * 1016)
  }

  @Test("a writer that waits hears when there is room")
  func writable() {
    let world = World()
    world.conditioner.hold(.toApp)
    while (world.pair?.glasses.writableBytes ?? 0) > 0 { world.pair?.glasses.write(unit(0, bytes: 4096)) }
    world.clock.advance(by: .seconds(100))
    #expect(world.glasses.values.isEmpty && world.app.values.isEmpty)
    world.conditioner.release(.toApp)
    #expect(world.glasses.values == [.writable])
    #expect(world.atApp().count == 64 * 4112 || world.atApp().count == 63 * 4112)
    #expect(world.conditioner.log.last?.kind == .released(bytes: world.atApp().count))
  }

  @Test("the two directions are held apart")
  func halfOpen() {
    let world = World()
    world.conditioner.hold(.toGlasses)
    world.pair?.app.write([1])
    world.pair?.glasses.write([2])
    #expect(world.app.values == [.received([2])] && world.glasses.values.isEmpty)
    // The app's end closes; the glasses can't know.
    world.pair?.app.close()
    world.pair?.app.write([3])
    #expect(world.app.values.last == .closed(.closedHere))
    world.pair?.glasses.write([4])
    #expect(world.app.values.count == 2)
    #expect(world.glasses.values.isEmpty)
    world.conditioner.release(.toGlasses)
    #expect(world.glasses.values == [.received([1]), .closed(.peerClosed)])
  }

  @Test("a cut breaks both ends, with all that was under way; a link that is joined later works")
  func cut() {
    let world = World()
    world.conditioner.setLatency(.milliseconds(10))
    world.pair?.glasses.write(unit(0))
    world.conditioner.cut()
    world.clock.advance(by: .seconds(1))
    #expect(world.app.values == [.closed(.failed("the link was cut by a fault"))])
    #expect(world.glasses.values == world.app.values)
    #expect(world.conditioner.log.map(\.kind).suffix(2) == [.cut(bytes: 56), .cut(bytes: 0)])
    world.pair?.app.write([1])
    world.pair?.app.close()
    #expect(world.pair?.app.writableBytes == 0 && world.pair?.glasses.writableBytes == 0)
    // The latency is still there.
    let later = world.conditioner.joinedMemoryLink(world.clock)
    let app = Observed<Happening>()
    later.app.open(World.handlers(app))
    later.glasses.write(unit(5))
    #expect(app.values.isEmpty)
    world.clock.advance(by: .milliseconds(10))
    #expect(app.values == [.received(unit(5))])
  }

  @Test("clear lets all that waits go on, and nothing is left of the faults")
  func clear() {
    let world = World()
    world.conditioner.apply(.delay(.seconds(9)), to: .unit, .next(0), on: .video)
    world.conditioner.apply(.drop, to: .unit, .all, on: .photo)
    world.conditioner.mute(.control)
    world.conditioner.limit(.kilobitsPerSecond(1))
    world.conditioner.setLatency(.seconds(1))
    world.conditioner.hold(.toApp)
    world.pair?.glasses.write(unit(0) + unit(1))
    #expect(world.app.values.isEmpty)
    world.conditioner.clear()
    #expect(world.app.values == [.received(unit(1)), .received(unit(0))])
    let all = unit(2) + unit(0, on: .photo) + unit(0, on: .control)
    world.pair?.glasses.write(all)
    #expect(world.app.values.last == .received(all))
  }

  @Test("an end that is closed or let go ends the other, behind what it wrote")
  func ends() {
    let world = World()
    world.conditioner.setLatency(.milliseconds(10))
    world.pair?.glasses.write(unit(0))
    world.pair?.glasses.close()
    #expect(world.glasses.values == [.closed(.closedHere)])
    world.clock.advance(by: .milliseconds(9))
    #expect(world.app.values.isEmpty)
    world.clock.advance(by: .milliseconds(1))
    #expect(world.app.values == [.received(unit(0)), .closed(.peerClosed)])

    let other = World()
    let app = other.pair?.app
    other.pair = nil
    #expect(other.app.values == [.closed(.peerClosed)])
    withExtendedLifetime(app) {}
  }

  @Test("nothing of a link stays when both of its ends are gone, however much waits in it")
  func leavesNothing() {
    let world = World()
    world.conditioner.hold(.toApp)
    world.conditioner.hold(.toGlasses)
    world.pair?.glasses.write(unit(0))
    weak let inner = world.inner
    #expect(inner != nil)
    world.pair = nil
    #expect(inner == nil)
    #expect(world.app.values == [.closed(.closedHere)])
  }

  @Test("the same seed and the same traffic give the same log")
  func sameLog() {
    func log(seed: UInt64) -> [LinkConditioner.Event] {
      let world = World(seed: seed)
      world.conditioner.apply(.drop, to: .unit, .random(probability: 0.2), on: .video)
      world.conditioner.apply(.corrupt, to: .unit, .random(probability: 0.2), on: .video)
      for number in 0..<100 {
        world.pair?.glasses.write(unit(UInt32(number)))
        world.clock.advance(by: .milliseconds(7))
      }
      return world.conditioner.log
    }
    #expect(log(seed: 3) == log(seed: 3))
    #expect(log(seed: 3) != log(seed: 4))
    #expect(log(seed: 3).count > 10)
  }

  @Test("writers on many threads while faults come and go: what arrives keeps its order")
  func threads() async throws {
    let conditioner = LinkConditioner(timekeeper: SystemTimekeeper.shared, seed: 1)
    let pair = conditioner.joinedMemoryLink(SystemTimekeeper.shared)
    let arrived = Observed<UInt32>()
    let app = pair.app
    app.open(
      TransportHandlers(
        received: { bytes in
          for chunk in stride(from: 0, to: bytes.count, by: 56) {
            arrived.record(bytes[chunk + 4..<chunk + 8].reduce(0) { $0 << 8 | UInt32($1) })
          }
          app.consumed(bytes.count)
        }, writable: {}, closed: { _ in }))
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 0..<20_000 { pair.glasses.write(unit(UInt32(number))) }
      }
      group.addTask {
        for _ in 0..<300 {
          conditioner.hold(.toApp)
          conditioner.release(.toApp)
          conditioner.setLatency(.microseconds(50))
          conditioner.clear()
        }
      }
    }
    conditioner.clear()
    try await arrived.wait("all units") { $0.count == 20_000 }
    #expect(arrived.values == (0..<20_000).map { UInt32($0) })
    pair.glasses.close()
  }
}

extension LinkConditioner {
  fileprivate func joinedMemoryLink(
    _ timekeeper: any Timekeeper
  ) -> (app: any ByteTransport, glasses: any ByteTransport) {
    let wire = MemoryLink.makePair(timekeeper: timekeeper)
    return join(app: wire.app, glasses: wire.glasses)
  }
}
