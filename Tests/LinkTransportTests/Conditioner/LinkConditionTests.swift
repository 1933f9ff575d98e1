import LinkProtocol
import TestSupport
import Testing
import Units

@testable import LinkTransport

@Suite("Conditions of links")
struct LinkConditionTests {
  private static let millisecond = Duration.milliseconds(1)

  @Test(
    "a stall holds what comes meanwhile and lets it go at once; the seed decides when, and their number is as asked")
  func stalls() {
    let stalls = LinkCondition.Stalls(every: .seconds(2), lasting: .milliseconds(100)...(.milliseconds(300)))
    func arrivals(_ seed: UInt64) -> [Instant] {
      var schedule = StallSchedule(stalls, seed: seed)
      return (0..<60_000).map { schedule.arrival(Instant(nanoseconds: $0 * 1_000_000)) }
    }
    let first = arrivals(1)
    #expect(first == arrivals(1) && first != arrivals(2))
    #expect(zip(first, first.dropFirst()).allSatisfy { $0 <= $1 })
    var lengths: [Int] = []
    for (time, arrival) in first.enumerated() where arrival > Instant(nanoseconds: Int64(time) * 1_000_000) {
      if time > 0, first[time - 1] == arrival { lengths[lengths.count - 1] += 1 } else { lengths.append(1) }
    }
    // A minute; from the end of one to the begin of the next two seconds on average.
    #expect(20...40 ~= lengths.count)
    // The last may go on beyond the minute.
    #expect(lengths.dropLast().allSatisfy { 99...301 ~= $0 })
  }

  @Test("no stall comes out of a pause, however long, and none lasts for ever")
  func extremes() {
    var schedule = StallSchedule(.init(every: .zero, lasting: .seconds(1)...(.seconds(1))), seed: 1)
    for time: Int64 in [.min, 0, 1, 1_000_000_000_000_000, .max - 1, .max] {
      #expect(schedule.arrival(Instant(nanoseconds: time)) >= Instant(nanoseconds: time))
    }
    var endless = StallSchedule(
      .init(every: .nanoseconds(Int64.max), lasting: .zero...(.nanoseconds(Int64.max))), seed: 1)
    #expect(endless.arrival(Instant(nanoseconds: 5)) >= Instant(nanoseconds: 5))
  }

  @Test("bytes that are no chunks keep to the rate in small parts, and rules leave them alone")
  func bytes() {
    var rules = FaultRules(seed: 1)
    rules.add(.drop, to: .chunk, .all, on: .video, .toApp, syncOnly: nil)
    var flow = ConditionedFlow(
      direction: .toApp, link: 0, settings: .init(condition: LinkCondition(rate: .kilobitsPerSecond(1000))), seed: 1,
      content: .bytes)
    let written = (0..<10_000).map { UInt8(truncatingIfNeeded: $0) }
    // Begins like a chunk of video, which the rule would drop.
    flow.write(unit(0) + written, rules: &rules, at: Instant(nanoseconds: 0))
    flow.end(at: Instant(nanoseconds: 0))
    var passed: [UInt8] = []
    var times: [Int64] = []
    while let next = flow.nextDeadline {
      flow.advance(to: next)
      while let portion = flow.nextPassed() {
        guard case .bytes(let bytes) = portion else { continue }
        passed += bytes
        #expect(bytes.count <= ConditionedFlow.segmentBytes)
        times.append(next.nanoseconds)
      }
    }
    #expect(passed == unit(0) + written)
    #expect(times.count == 7 && times.last == Int64(passed.count) * 8000)
    #expect(flow.isOver)
  }

  @Test("a longer queue takes more before the writer has to wait")
  func queue() {
    func room(_ queue: Duration) -> Int {
      var flow = ConditionedFlow(
        direction: .toApp, link: 0,
        settings: .init(condition: LinkCondition(rate: .kilobitsPerSecond(8000), queue: queue)), seed: 1)
      return flow.askRoom()
    }
    #expect(room(.milliseconds(50)) == 50_000 && room(.milliseconds(400)) == 400_000)
  }

  private final class World {
    let clock = ManualTimekeeper()
    let conditioner: LinkConditioner
    let app = Observed<[UInt8]>()
    let closes = Observed<TransportClose>()
    var ends: [(app: any ByteTransport, glasses: any ByteTransport)] = []

    init() { conditioner = LinkConditioner(timekeeper: clock, seed: 1) }

    func join(_ content: LinkConditioner.Content = .bytes) {
      let wire = MemoryLink.makePair(timekeeper: clock)
      let pair = conditioner.join(app: wire.app, glasses: wire.glasses, carrying: content)
      pair.app.open(
        TransportHandlers(
          received: { [app] in app.record($0) }, writable: {}, closed: { [closes] in closes.record($0) }))
      pair.glasses.open(TransportHandlers(received: { _ in }, writable: {}, closed: { [closes] in closes.record($0) }))
      ends.append(pair)
    }
  }

  @Test("the connection that is held back is overtaken by the next one; only that one")
  func overtaking() {
    let world = World()
    world.conditioner.holdBackNext(by: .milliseconds(400))
    world.join()
    world.join()
    world.ends[0].glasses.write([1])
    world.ends[1].glasses.write([2])
    #expect(world.app.values == [[2]])
    world.clock.advance(by: .milliseconds(400))
    #expect(world.app.values == [[2], [1]])
    // From then on as any other.
    world.ends[0].glasses.write([3])
    #expect(world.app.values == [[2], [1], [3]])
  }

  @Test("refused links break at once; those that are up stay, and later ones work again")
  func refusing() {
    let world = World()
    world.join()
    world.conditioner.refuse(true)
    world.join()
    #expect(world.closes.values == Array(repeating: .failed("the link was refused by a fault"), count: 2))
    world.conditioner.refuse(false)
    world.join()
    world.ends[0].glasses.write([1])
    world.ends[1].glasses.write([2])
    world.ends[2].glasses.write([3])
    #expect(world.app.values == [[1], [3]])
  }

  @Test("of a link of bytes what was written passes, though both ends are closed")
  func closing() {
    let world = World()
    let wire = MemoryLink.makePair(timekeeper: world.clock)
    // A piece of a longer way: what is written to its ends comes out of the transports that it leads to.
    let client = MemoryLink.makePair(timekeeper: world.clock)
    let far = Observed<[UInt8]>()
    let farCloses = Observed<TransportClose>()
    client.app.open(
      TransportHandlers(received: { far.record($0) }, writable: {}, closed: { farCloses.record($0) }))
    let pair = world.conditioner.join(app: wire.app, glasses: client.glasses, carrying: .bytes)
    world.conditioner.setLatency(.milliseconds(20))
    pair.glasses.write([1, 2])
    pair.glasses.close()
    pair.app.close()
    #expect(far.values.isEmpty && farCloses.values.isEmpty)
    world.clock.advance(by: .milliseconds(20))
    #expect(far.values == [[1, 2]] && farCloses.values == [.peerClosed])
  }

  @Test(
    "every preset has a name, a rate, and less room for delay than a link bears silence",
    arguments: LinkPreset.allCases)
  func presets(_ preset: LinkPreset) throws {
    for direction in LinkConditioner.Direction.allCases {
      let condition = preset.condition(direction)
      let rate = try #require(condition.rate)
      #expect(rate >= .kilobitsPerSecond(100))
      let stalls = try #require(condition.stalls)
      // Five seconds of silence would be an interruption, which is no preset's matter.
      #expect(condition.queue + condition.latency + condition.jitter + stalls.length.upperBound < .seconds(3))
    }
    let world = World()
    world.conditioner.apply(preset)
    world.join()
    // Half a second's worth of the rate, written as there is room, arrives in about that time and the delay.
    let condition = preset.condition(.toApp)
    let total = Int(condition.rate?.bitsPerSecond ?? 0) / 16
    var left = total
    let begin = world.clock.now
    while world.app.values.reduce(0, { $0 + $1.count }) < total, world.clock.now - begin < .seconds(6) {
      let room = min(left, world.ends[0].glasses.writableBytes)
      world.ends[0].glasses.write([UInt8](repeating: 7, count: room))
      left -= room
      world.clock.advance(by: .milliseconds(10))
      for bytes in world.app.values { world.ends[0].app.consumed(bytes.count) }
    }
    let elapsed = world.clock.now - begin
    #expect(left == 0 && elapsed >= .milliseconds(490) && elapsed < .seconds(3), "\(elapsed)")
  }
}
