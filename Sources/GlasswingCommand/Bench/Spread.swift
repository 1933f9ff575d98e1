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

  /// Of several runs: of each figure the median, of the extremes the outermost, of the counts the sum; nil without a run.
  init?(medianOf runs: [Spread]) {
    guard let least = runs.map(\.least).min(), let most = runs.map(\.most).max() else { return nil }
    count = runs.reduce(0) { $0 + $1.count }
    p50 = Self.median(runs.map(\.p50))
    p95 = Self.median(runs.map(\.p95))
    p99 = Self.median(runs.map(\.p99))
    self.least = least
    self.most = most
  }

  /// The middle value, of an even number of them the mean of both, to a thousandth; 0 of none.
  static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return 0 }
    let upper = sorted[sorted.count / 2]
    let median = sorted.count.isMultiple(of: 2) ? (sorted[sorted.count / 2 - 1] + upper) / 2 : upper
    return (median * 1000).rounded() / 1000
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
