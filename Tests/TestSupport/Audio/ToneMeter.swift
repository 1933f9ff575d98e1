import Foundation

/// Reads what a tone is from its samples, for tests that receive sound.
package enum ToneMeter {
  /// The frequency of a lone tone, from its rising zero crossings; a second of samples reads to a hundredth of a hertz.
  ///
  /// - Returns: nil when there are not two crossings.
  package static func frequency(of samples: [Float], sampleRate: Int) -> Double? {
    var first: Double?
    var last = 0.0
    var periods = -1
    for (index, pair) in zip(samples, samples.dropFirst()).enumerated() where pair.0 < 0 && pair.1 >= 0 {
      // Between the two samples, on the straight line through them.
      last = Double(index) + Double(pair.0 / (pair.0 - pair.1))
      if first == nil { first = last }
      periods += 1
    }
    guard let first, periods > 0 else { return nil }
    return Double(periods) * Double(sampleRate) / (last - first)
  }

  /// The amplitude of one frequency among the samples, by the Fourier sum at it.
  package static func level(of frequency: Double, in samples: [Float], sampleRate: Int) -> Double {
    guard !samples.isEmpty else { return 0 }
    let step = 2 * .pi * frequency / Double(sampleRate)
    var (cosine, sine) = (0.0, 0.0)
    for (index, sample) in samples.enumerated() {
      cosine += Double(sample) * cos(step * Double(index))
      sine += Double(sample) * sin(step * Double(index))
    }
    return 2 * (cosine * cosine + sine * sine).squareRoot() / Double(samples.count)
  }

  /// The root of the mean square.
  package static func effectiveLevel(of samples: [Float]) -> Double {
    guard !samples.isEmpty else { return 0 }
    return (samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(samples.count)).squareRoot()
  }
}
