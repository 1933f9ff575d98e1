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
    samples.withUnsafeBufferPointer { samples in
      guard let base = samples.baseAddress else { return }
      for index in 1..<max(samples.count, 1) where base[index] >= 0 && base[index - 1] < 0 {
        // Between the two samples, on the straight line through them.
        last = Double(index - 1) + Double(base[index - 1] / (base[index - 1] - base[index]))
        if first == nil { first = last }
        periods += 1
      }
    }
    guard let first, periods > 0 else { return nil }
    return Double(periods) * Double(sampleRate) / (last - first)
  }

  /// The amplitude of one frequency among the samples: the Fourier sum at it, by Goertzel's recursion.
  package static func level(of frequency: Double, in samples: [Float], sampleRate: Int) -> Double {
    guard !samples.isEmpty else { return 0 }
    let twice = 2 * cos(2 * .pi * frequency / Double(sampleRate))
    var (now, before) = (0.0, 0.0)
    samples.withUnsafeBufferPointer { samples in
      guard let base = samples.baseAddress else { return }
      for index in 0..<samples.count { (now, before) = (Double(base[index]) + twice * now - before, now) }
    }
    let power = now * now + before * before - twice * now * before
    return 2 * max(power, 0).squareRoot() / Double(samples.count)
  }
}
