import TestSupport
import Testing
import Units

@testable import LinkProtocol

/// Rate control and ladder together, on scripted links in simulated time.
struct SendingRateTests {
  @Test("a link that carries everything changes nothing, however long its way: the rung's own bit rate, no step")
  func free() {
    for latency in [Duration.zero, .milliseconds(120)] {
      var bench = RateBench()
      bench.pair.latency = [.app: latency, .glasses: latency]
      bench.run(for: .seconds(60))
      #expect(bench.looks.count > 800)
      #expect(bench.looks.allSatisfy { $0.target == .kilobitsPerSecond(1500) })
      #expect(bench.steps.isEmpty)
    }
  }

  @Test("jitter of 80 ms is no queue")
  func jitter() {
    var bench = RateBench()
    let generator = Generator()
    bench.pair.latency = [.glasses: .milliseconds(20)]
    bench.pair.jitter = { .milliseconds(generator.next(80)) }
    bench.run(for: .seconds(60))
    #expect(bench.looks.allSatisfy { $0.target == .kilobitsPerSecond(1500) })
    #expect(bench.steps.isEmpty)
  }

  @Test(
    "a steady link below the stream's rate is filled, and the delay stays short",
    arguments: [200, 500, 1000, 1400] as [Int64])
  func steady(rate: Int64) {
    var bench = RateBench()
    bench.limit(.kilobitsPerSecond(rate))
    bench.run(for: .seconds(10))
    let before = bench.delivered
    bench.run(for: .seconds(50))
    let used = Double(bench.delivered - before) * 8 / 50 / Double(rate * 1000)
    #expect(used > 0.82, "\(used)")
    #expect(bench.delay(0.5) < .milliseconds(120), "\(bench.delay(0.5))")
    #expect(bench.delay(0.95) < .milliseconds(420), "\(bench.delay(0.95))")
    #expect(bench.steps.count <= 2, "\(bench.steps)")
    #expect(bench.pair.glasses.statistics.videoOverflows <= 5)
  }

  @Test("a cap at 200 kbit/s: the queue runs over, and pictures flow at the smallest rung within a second")
  func narrow() {
    var bench = RateBench()
    bench.run(for: .seconds(5))
    #expect(bench.steps.isEmpty)
    bench.limit(.kilobitsPerSecond(200))
    bench.run(for: .seconds(1))
    #expect(bench.rate.rung.video.frameRate == 15 && bench.rate.rung.video.size == RateBench.low)
    bench.run(for: .seconds(4))
    let before = bench.delays.count
    bench.run(for: .seconds(10))
    #expect(bench.delays.count - before >= 140)
    #expect(bench.pair.glasses.statistics.videoOverflows <= 3)
  }

  @Test("halved and given back: what the link carries is found again within ten seconds, and the size with it")
  func comesBack() {
    var bench = RateBench()
    bench.limit(.kilobitsPerSecond(1600))
    bench.run(for: .seconds(10))
    bench.limit(.kilobitsPerSecond(500))
    bench.run(for: .seconds(10))
    #expect(bench.rate.rung.video.size == RateBench.low)
    bench.limit(.kilobitsPerSecond(3000))
    bench.run(for: .seconds(15))
    #expect(bench.rate.rung.video.size == RateBench.medium)
    bench.run(for: .seconds(2))
    #expect(bench.rate.target == .kilobitsPerSecond(1500))
    #expect(bench.steps.count <= 4, "\(bench.steps)")
  }

  @Test("a narrow moment passes without a step, and the rate is back three seconds later")
  func burst() {
    var bench = RateBench()
    for _ in 0..<6 {
      bench.limit(nil)
      bench.run(for: .seconds(4))
      #expect(bench.rate.control.estimate >= .kilobitsPerSecond(1300))
      // Somebody else's transfer.
      bench.limit(.kilobitsPerSecond(900))
      bench.run(for: .milliseconds(700))
    }
    #expect(bench.steps.isEmpty, "\(bench.steps)")
  }

  @Test("a link that stands still for a moment says nothing about its rate")
  func standstill() {
    var bench = RateBench()
    bench.run(for: .seconds(5))
    bench.limit(.bitsPerSecond(8))
    bench.run(for: .milliseconds(900))
    bench.limit(nil)
    // The portion that was on its way at a byte a second would take an hour.
    bench.pair.freeWires()
    bench.run(for: .seconds(2))
    #expect(bench.rate.control.estimate >= .kilobitsPerSecond(1300))
    #expect(bench.steps.isEmpty)
  }

  @Test("an interruption that held everything back says nothing about the rate either")
  func interruption() {
    var rate = SendingRate(RateBench.ladder)
    var flow = VideoFlow(time: Instant(nanoseconds: 0))
    func look(sends bytes: UInt64, acknowledges: Bool) {
      flow.time = flow.time + .milliseconds(66)
      flow.sentBytes += bytes
      if acknowledges { (flow.acknowledgedBytes, flow.acknowledged) = (flow.sentBytes, flow.time) }
      let looked = rate.look(flow)
      #expect(looked)
      #expect(rate.control.estimate == .kilobitsPerSecond(1500))
      #expect(rate.rung == RateBench.ladder.rung)
    }
    for _ in 0..<45 { look(sends: 12_400, acknowledges: true) }
    // The transport swallows what it can, then the queue fills and runs over.
    for _ in 0..<30 { look(sends: 12_400, acknowledges: false) }
    for step in 1...30 {
      flow.waitingAge = .milliseconds(66 * (step % 8))
      if step % 8 == 0 { flow.overflows += 1 }
      look(sends: 0, acknowledges: false)
    }
    // The rest of a unit leaves as the queue is found too old.
    flow.waitingAge = .zero
    flow.overflows += 1
    look(sends: 4096, acknowledges: true)
    for _ in 0..<45 { look(sends: 12_400, acknowledges: true) }
  }

  @Test("a longer route is taken for what it is within two seconds")
  func longerRoute() {
    var bench = RateBench()
    bench.pair.latency = [.app: .milliseconds(20), .glasses: .milliseconds(20)]
    bench.run(for: .seconds(5))
    bench.pair.latency = [.app: .milliseconds(250), .glasses: .milliseconds(250)]
    bench.run(for: .seconds(4))
    #expect(bench.rate.target == .kilobitsPerSecond(1500))
    bench.pair.latency = [.app: .milliseconds(20), .glasses: .milliseconds(20)]
    bench.run(for: .seconds(10))
    #expect(bench.rate.target == .kilobitsPerSecond(1500))
    #expect(bench.steps.isEmpty)
  }

  @Test(
    "no rate near a rung makes the picture flap: four steps in a minute at most",
    arguments: [380, 500, 640, 800, 900, 1150] as [Int64], [false, true])
  func noFlapping(rate: Int64, ignoresTarget: Bool) {
    var bench = RateBench()
    bench.ignoresTarget = ignoresTarget
    bench.limit(.kilobitsPerSecond(rate))
    bench.run(for: .seconds(20))
    let early = bench.steps.count
    bench.run(for: .seconds(60))
    #expect(early <= 4, "\(bench.steps)")
    #expect(bench.steps.count - early <= 4, "\(bench.steps)")
  }

  @Test("a still scene, which shows nothing of the link, does not make it flap either")
  func stillScene() {
    var bench = RateBench()
    bench.content = .kilobitsPerSecond(700)
    bench.limit(.kilobitsPerSecond(600))
    bench.run(for: .seconds(60))
    #expect(bench.steps.count <= 5, "\(bench.steps)")
  }
}

private final class Generator {
  private var generator = SeededGenerator(seed: 3)
  func next(_ bound: Int) -> Int { Int.random(in: 0...bound, using: &generator) }
}
