import Glasswing
import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// What a link does that is bad for a while, and how soon pictures are young again and the rate is back.
@Suite("A link in bad weather", .exclusive(.mockKit))
struct LinkWeatherTests {
  /// 360x640 at 15 pictures a second: 520 kbit/s.
  private func run(
    encodesLive: Bool, _ test: (RateRun, SimulatedGlasses, ManualTimekeeper) async throws -> Void
  ) async throws {
    try await withGlassesByHand(encodesLive: encodesLive) { glasses, clock in
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)
      let run = try await RateRun(configuration, glasses, clock)
      clock.advance(by: .seconds(2))
      try await test(run, glasses, clock)
      #expect(run.watched.stream.state == .streaming && run.watched.errors.isEmpty)
      #expect(run.changes.isEmpty)
      run.session.stop()
    }
  }

  @Test(
    "PERF-2: halved for six seconds, a link carries pictures that stay young, and nearly its rate again within five")
  func halved() async throws {
    try await run(encodesLive: true) { run, glasses, clock in
      glasses.link.limit(.kilobitsPerSecond(520))
      clock.advance(by: .seconds(3))
      let usual = try glasses.target()
      let begin = clock.now
      glasses.link.limit(.kilobitsPerSecond(260))
      clock.advance(by: .seconds(6))
      let ages = run.ages(since: begin)
      glasses.link.limit(.kilobitsPerSecond(520))
      let back = try clock.time(until: { try glasses.target() >= usual.part(0.9) }, within: .seconds(15))
      let p95 = try #require(ages.dropLast(ages.count / 20).last)
      #expect(p95 <= .milliseconds(600), "\(p95)")
      #expect(try #require(back) <= .seconds(5))
    }
  }

  @Test(
    "PERF-2: what was held back comes at once; pictures are young again within 200 ms, and as many as before",
    arguments: [1, 2, 5])
  func held(seconds: Int) async throws {
    try await run(encodesLive: false) { run, glasses, clock in
      let usual = try glasses.target()
      glasses.link.hold(.toApp)
      clock.advance(by: .seconds(seconds))
      let end = clock.now
      glasses.link.release(.toApp)
      clock.advance(by: .seconds(3))
      let late = run.ages(since: end)
      #expect(late.count >= 44 && (late.last ?? .seconds(9)) <= .milliseconds(100), "\(late.last ?? .zero)")
      let first = try #require(run.pictures.values.first { $0.presentation >= end })
      #expect(first.delivered - end <= .milliseconds(200))
      #expect(try glasses.target() == usual)
    }
  }
}

extension RateRun {
  /// Of the pictures that were taken since, rising.
  fileprivate func ages(since start: Instant) -> [Duration] {
    pictures.values.filter { $0.presentation >= start }.map { $0.delivered - $0.presentation }.sorted()
  }
}

extension SimulatedGlasses {
  fileprivate func target() throws -> Bitrate { try #require(agent.sendingRates.values.first).target }
}

extension Bitrate {
  fileprivate func part(_ share: Double) -> Bitrate { .bitsPerSecond(Int64(Double(bitsPerSecond) * share)) }
}

extension ManualTimekeeper {
  fileprivate func time(until isDone: () throws -> Bool, within limit: Duration) throws -> Duration? {
    let begin = now
    while now - begin < limit {
      if try isDone() { return now - begin }
      advance(by: .milliseconds(20))
    }
    return nil
  }
}
