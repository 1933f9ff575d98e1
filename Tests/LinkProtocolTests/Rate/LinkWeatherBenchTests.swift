import Testing
import Units

@testable import LinkProtocol

/// Rate control and ladder on links that are bad for a while.
@Suite("Following a link in bad weather")
struct LinkWeatherBenchTests {
  /// A sync unit takes 0.3 s of the bit rate, so where nothing is to spare it alone makes pictures as old.
  @Test(
    "halved for six seconds: no step, no picture over 600 ms, and nine tenths of the rate within five seconds",
    arguments: 2..<8 as Range<Int64>)
  func halved(phase: Int64) throws {
    var bench = RateBench()
    bench.limit(.kilobitsPerSecond(1600))
    bench.run(for: .seconds(20) + .milliseconds(250 * phase))
    let begin = bench.time
    bench.limit(.kilobitsPerSecond(800))
    bench.run(for: .seconds(6))
    let end = bench.time
    bench.limit(.kilobitsPerSecond(1600))
    bench.run(for: .seconds(6))
    #expect(bench.delay(0.5, in: begin..<end) < .milliseconds(110), "\(bench.delay(0.5, in: begin..<end))")
    #expect(bench.delay(0.95, in: begin..<end) < .milliseconds(450), "\(bench.delay(0.95, in: begin..<end))")
    #expect(bench.delay(1, in: begin..<end) < .milliseconds(600), "\(bench.delay(1, in: begin..<end))")
    let back = try #require(bench.wait(for: .kilobitsPerSecond(1350), from: end))
    #expect(back <= 5, "\(back)")
    #expect(bench.steps.isEmpty)
  }

  @Test("what was held back for seconds and comes at once says nothing of the rate", arguments: [1, 2, 5] as [Int64])
  func held(seconds: Int64) {
    var bench = RateBench()
    bench.run(for: .seconds(5))
    bench.hold(for: .seconds(seconds))
    let end = bench.time
    bench.run(for: .seconds(5))
    #expect(bench.delay(1, in: 5..<5.1) > .milliseconds(800 * seconds))
    #expect(bench.delay(1, in: end..<end + 5) < .milliseconds(50))
    #expect(bench.looks.allSatisfy { $0.target == .kilobitsPerSecond(1500) } && bench.steps.isEmpty)
  }

  @Test("a busy radio, that rests for up to 150 ms now and then and is never equally fast, is no narrow link")
  func busy() {
    var generator = SeededGenerator(seed: 1)
    var bench = RateBench()
    bench.pair.latency = [.glasses: .milliseconds(5)]
    for _ in 0..<150 {
      if Int.random(in: 0...3, using: &generator) == 0 {
        bench.hold(for: .milliseconds(Int64.random(in: 20...150, using: &generator)))
      }
      bench.limit(.kilobitsPerSecond(Int64.random(in: 2500...20_000, using: &generator)))
      bench.run(for: .milliseconds(Int64.random(in: 20...200, using: &generator)))
    }
    #expect(bench.looks.allSatisfy { $0.target == .kilobitsPerSecond(1500) } && bench.steps.isEmpty)
    #expect(bench.delay(0.95) < .milliseconds(120))
  }
}
