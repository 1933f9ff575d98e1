import Units

/// How a measured time spreads, in milliseconds to a thousandth.
struct Spread: Codable, Equatable, Sendable {
  let count: Int
  let p50: Double
  let p95: Double
  let p99: Double
  let least: Double
  let most: Double

  enum CodingKeys: String, CodingKey {
    case count
    case p50 = "p50_ms"
    case p95 = "p95_ms"
    case p99 = "p99_ms"
    case least = "min_ms"
    case most = "max_ms"
  }

  /// nil when nothing was measured.
  init?(_ samples: [Duration]) {
    let sorted = samples.sorted()
    guard let first = sorted.first, let last = sorted.last else { return nil }
    /// The sample that the given share of samples doesn't exceed (nearest rank).
    func percentile(_ share: Double) -> Double {
      let rank = Int((Double(sorted.count) * share).rounded(.up))
      return Self.milliseconds(sorted[min(max(rank, 1), sorted.count) - 1])
    }
    count = sorted.count
    p50 = percentile(0.5)
    p95 = percentile(0.95)
    p99 = percentile(0.99)
    least = Self.milliseconds(first)
    most = Self.milliseconds(last)
  }

  static func milliseconds(_ duration: Duration) -> Double {
    Double((duration.nanoseconds + 500) / 1000) / 1000
  }

  /// `p50 4.812  p95 6.100  p99 7.020 ms (240)`
  var text: String {
    let figures = [("p50", p50), ("p95", p95), ("p99", p99)].map { name, value in
      "\(name) \(ProgressLine.decimal(value, places: 3))"
    }
    return figures.joined(separator: "  ") + " ms  (\(count))"
  }
}
