import Units

/// A frame of sound as a listener had it: where it lies in time, and what it says of what comes before it.
package protocol HeardFrame {
  /// Of the first sample.
  var start: Instant { get }
  /// Samples of each channel.
  var count: Int { get }
  var missing: Int { get }
  var isDiscontinuity: Bool { get }
}

extension Array where Element: HeardFrame {
  /// Samples of each channel, those included that frames said are missing.
  package var totalSamples: Int { reduce(0) { $0 + $1.count + $1.missing } }

  /// What is wrong with what one listener had: times that don't follow from lengths and what is missing, gaps without a
  /// mark, a first frame that follows something.
  package func faults(rate: Double) -> [String] {
    guard let first, let last else { return ["nothing was heard"] }
    var faults = first.missing == 0 && !first.isDiscontinuity ? [] : ["the first frame misses something: \(first)"]
    for (before, after) in zip(self, dropFirst()) {
      let expected = Double(before.count + after.missing) / rate
      if abs((after.start - before.start).seconds - expected) > 1e-6 { faults.append("\(before), then \(after)") }
      if after.start <= before.start { faults.append("not rising: \(after)") }
      if after.missing > 0, !after.isDiscontinuity { faults.append("no mark: \(after)") }
    }
    // Nor may rounding add up.
    let expected = Double(totalSamples - last.count) / rate
    let length = (last.start - first.start).seconds
    if abs(length - expected) > 1 / rate { faults.append("\(length) s have \(expected) s of samples") }
    return Array<String>(faults.prefix(5))
  }
}
