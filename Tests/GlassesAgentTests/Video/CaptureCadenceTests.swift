import Testing
import Units

@testable import GlassesAgent

/// The cadence against every pair of rates, with even and with uneven sources. (PERF-1)
@Suite("Capture cadence")
struct CaptureCadenceTests {
  private static let sourceRates: [Double] = [5, 12.5, 15, 23.976, 24, 25, 29.97, 30, 50, 59.94, 60, 120]
  private static let requestedRates: [Double] = [2, 7, 15, 24, 30]

  /// What is taken of a source in a minute.
  private func taken(source: Double, requested: Double, jitter: Double = 0, seed: UInt64 = 1) -> [Duration] {
    var cadence = CaptureCadence(requested: requested, source: source)
    var state = seed
    var taken: [Duration] = []
    for index in 0..<Int(60 * source) {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let random = Double(state >> 40) / Double(1 << 24) * 2 - 1
      let time: Duration = .seconds((Double(index) + 1 + jitter * random) / source)
      guard time >= cadence.earliest else { continue }
      cadence.took(time)
      taken.append(time)
    }
    return taken
  }

  @Test(
    "takes the lower of both rates within 3 %, with no gap above two intervals", arguments: sourceRates, requestedRates)
  func evenSources(source: Double, requested: Double) {
    let times = taken(source: source, requested: requested)
    let expected = 60 * min(source, requested)
    #expect(abs(Double(times.count) - expected) <= expected * 0.03, "\(times.count) of \(expected)")
    let interval = 1 / min(source, requested)
    let longest = zip(times, times.dropFirst()).map { ($1 - $0).seconds }.max() ?? .infinity
    #expect(longest <= 2 * interval + 1e-6, "\(longest) s")
  }

  @Test(
    "does so too when pictures come a quarter of an interval early or late",
    arguments: [15, 24, 29.97, 30, 50, 60], requestedRates)
  func unevenSources(source: Double, requested: Double) {
    let times = taken(source: source, requested: requested, jitter: 0.25)
    let expected = 60 * min(source, requested)
    #expect(abs(Double(times.count) - expected) <= expected * 0.03, "\(times.count) of \(expected)")
    let interval = 1 / min(source, requested)
    let longest = zip(times, times.dropFirst()).map { ($1 - $0).seconds }.max() ?? .infinity
    // A source just above the request leaves one picture out now and then: two of its intervals, and their jitter.
    #expect(longest <= max(2 * interval, 2.5 / source) + 1e-6, "\(longest) s")
  }

  @Test("does not drift: after an hour it has taken an hour's pictures")
  func doesNotDrift() {
    var cadence = CaptureCadence(requested: 24, source: 30)
    var count = 0
    for index in 0..<(3600 * 30) {
      let time: Duration = .seconds(Double(index) / 30)
      guard time >= cadence.earliest else { continue }
      cadence.took(time)
      count += 1
    }
    #expect(abs(count - 3600 * 24) <= 1)
  }

  @Test("after a pause of the source it makes up for one interval at most")
  func doesNotBurst() {
    var cadence = CaptureCadence(requested: 10, source: 100)
    var times: [Duration] = []
    for index in (0..<100).map({ $0 }) + (1000..<1100).map({ $0 }) {
      let time: Duration = .milliseconds(10 * index)
      guard time >= cadence.earliest else { continue }
      cadence.took(time)
      times.append(time)
    }
    let afterPause = times.filter { $0 >= .seconds(10) && $0 < .milliseconds(10_300) }
    #expect(afterPause.count <= 5)
  }

  @Test("rates that make no sense are taken as some rate")
  func survivesNonsense() {
    for rate in [Double.nan, .infinity, -.infinity, 0, -3, 1e300] {
      var cadence = CaptureCadence(requested: rate, source: rate)
      for index in 0..<10 { cadence.took(.seconds(index)) }
      #expect(cadence.earliest > .seconds(9))
    }
  }
}
