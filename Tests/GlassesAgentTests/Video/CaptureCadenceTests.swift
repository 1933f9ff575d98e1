import TestSupport
import Testing
import Units

@testable import GlassesAgent

/// The cadence against every pair of rates, with even and with uneven sources. (PERF-1)
@Suite("Capture cadence")
struct CaptureCadenceTests {
  private static let sourceRates: [Double] = [
    1, 2, 5, 7, 12.5, 15, 20, 23.976, 24, 24.5, 25, 26, 28, 29.97, 30, 31, 33, 48, 50, 59.94, 60, 90, 120,
  ]
  private static let requestedRates: [Double] = [2, 7, 15, 24, 30]

  /// How a source's pictures lie in time.
  enum Spacing: CaseIterable {
    case even
    /// Each up to a quarter of an interval off its place.
    case displaced
    /// A quarter early and a quarter late in turn.
    case alternating
    /// Each gap up to a quarter longer or shorter, so that pictures wander from their places.
    case wandering

    func times(rate: Double, length: Double, seed: UInt64) -> [Duration] {
      var random = SeededGenerator(seed: seed)
      var wandered = 0.0
      return (0..<Int(length * rate)).map { index in
        let jitter = Double.random(in: -0.25...0.25, using: &random)
        switch self {
        case .even: return .seconds(Double(index) / rate)
        case .displaced: return .seconds((Double(index) + 1 + jitter) / rate)
        case .alternating: return .seconds((Double(index) + 1 + (index % 2 == 0 ? 0.25 : -0.25)) / rate)
        case .wandering:
          wandered += 1 + jitter
          return .seconds(wandered / rate)
        }
      }
    }
  }

  /// The numbers of the pictures that are taken. The last one is never decided on, for want of a next.
  private func taken(_ times: [Duration], requested: Double) -> [Int] {
    var cadence = CaptureCadence(requested: requested)
    return times.indices.dropLast().filter { index in
      guard times[index] >= cadence.earliest, cadence.takes(times[index], before: times[index + 1]) else {
        return false
      }
      cadence.took(times[index])
      return true
    }
  }

  @Test(
    "takes the lower of both rates within 3 %, with no gap above two intervals, of even and of jittered sources",
    arguments: sourceRates, requestedRates)
  func rates(source: Double, requested: Double) {
    for spacing in Spacing.allCases {
      for seed: UInt64 in 1...4 {
        let times = spacing.times(rate: source, length: max(60, 240 / source), seed: seed)
        let numbers = taken(times, requested: requested)
        let stamps = numbers.map { times[$0].seconds }
        let length = (stamps.last ?? 0) - (stamps.first ?? 0)
        let own = Double(times.count - 1) / ((times.last ?? .zero) - (times.first ?? .zero)).seconds
        let expected = length * min(own, requested)
        let count = Double(numbers.count - 1)
        #expect(abs(count - expected) <= max(1, expected * 0.03), "\(spacing) \(seed): \(count) of \(expected)")
        let longest = zip(stamps, stamps.dropFirst()).map { $1 - $0 }.max() ?? .infinity
        #expect(longest <= 2 / min(source, requested) + 1e-6, "\(spacing) \(seed): \(longest) s")
        if source <= requested, spacing != .wandering { #expect(numbers.count == times.count - 1, "\(spacing)") }
      }
    }
  }

  @Test(
    "leaves out pictures of an even source evenly: of one gap to the next at most one more or less",
    arguments: sourceRates, requestedRates)
  func evenness(source: Double, requested: Double) {
    let numbers = taken(Spacing.even.times(rate: source, length: max(60, 240 / source), seed: 1), requested: requested)
    let steps = zip(numbers, numbers.dropFirst()).map { $1 - $0 }
    #expect((steps.max() ?? 0) - (steps.min() ?? 0) <= 1)
  }

  @Test("takes the whole of an uneven source that has no more pictures than asked for, in bursts too")
  func unevenSources() {
    // Gaps of 1/25 and 3/25 s: 12.5 a second.
    let pairs = (0..<200).map { Duration.milliseconds(160 * ($0 / 2) + ($0 % 2) * 40) }
    for requested in [15.0, 24, 30] { #expect(taken(pairs, requested: requested).count == 199) }
    // 20 a second for a second and 4 for the next.
    var times: [Duration] = [.zero]
    for second in 0..<20 {
      for _ in 0..<(second % 2 == 0 ? 20 : 4) {
        times.append((times.last ?? .zero) + .milliseconds(second % 2 == 0 ? 50 : 250))
      }
    }
    for requested in [24.0, 30] { #expect(taken(times, requested: requested).count == times.count - 1) }
    // Of the fast seconds 15, and one more that the slow one before had owed; of the slow ones all.
    let numbers = taken(times, requested: 15)
    #expect(abs(numbers.count - 10 * (15 + 4)) <= 10, "\(numbers.count)")
    let gaps = zip(numbers, numbers.dropFirst()).map { (times[$1] - times[$0]).milliseconds }
    #expect(gaps.allSatisfy { $0 <= 250 })
  }

  @Test("a burst of pictures gives no more than was asked for")
  func bursts() {
    // Sixty at once, then none for the rest of two seconds: 30 a second on average.
    let times = (0..<600).map { Duration.milliseconds(2000 * ($0 / 60) + $0 % 60) }
    #expect(taken(times, requested: 30).count <= 10 * 4)
  }

  @Test("does not drift: after an hour it has taken an hour's pictures")
  func doesNotDrift() {
    let numbers = taken(Spacing.even.times(rate: 30, length: 3600, seed: 1), requested: 24)
    #expect(abs(numbers.count - 3600 * 24) <= 1)
  }

  @Test("after a pause of the source it makes up for one interval at most")
  func doesNotBurst() {
    let times = (Array(0..<100) + Array(1000..<1100)).map { Duration.milliseconds(10 * $0) }
    let stamps = taken(times, requested: 10).map { times[$0] }
    #expect(stamps.filter { $0 >= .seconds(10) && $0 < .milliseconds(10_300) }.count <= 5)
  }

  @Test("rates that make no sense are taken as some rate")
  func survivesNonsense() {
    for rate in [Double.nan, .infinity, -.infinity, 0, -3, 1e300] {
      var cadence = CaptureCadence(requested: rate)
      for index in 0..<10 { cadence.took(.seconds(index)) }
      #expect(cadence.earliest > .seconds(9))
    }
  }
}
