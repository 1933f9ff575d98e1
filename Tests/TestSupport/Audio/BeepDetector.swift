import Foundation

/// Finds when a beep begins in samples that come in stretches, each with the time of its first one.
///
/// The signal is mixed down with the beep's frequency and averaged over a window of 5 ms. What begins at once rises in it
/// as a straight line, so the moment at which it stands at half its height is the middle of the window at the onset.
package struct BeepDetector {
  /// Seconds, on the stamps' clock.
  package private(set) var onsets: [Double] = []

  private static let window = 0.005
  /// Quieter than this for so long is the end of a beep.
  private static let rest = 0.02

  private let sampleRate: Int
  private let frequency: Double
  private let threshold: Double
  /// The window's samples, mixed down, as a ring.
  private var ring: [(cosine: Double, sine: Double)]
  private var position = 0
  private var phase = 0.0
  private var sum = (cosine: 0.0, sine: 0.0)
  private var before = 0.0
  private var isBeeping = false
  private var quietSince: Double?
  /// When the next sample is due if no stretch is missing.
  private var next: Double?

  /// - Parameter level: the beep's amplitude.
  package init(frequency: Double = 1000, level: Double, sampleRate: Int) {
    self.frequency = frequency
    self.sampleRate = sampleRate
    threshold = level / 2
    ring = Array(repeating: (0, 0), count: max(1, Int(Double(sampleRate) * Self.window)))
  }

  /// - Parameters:
  ///   - samples: of one channel.
  ///   - time: the first sample's presentation time in seconds.
  package mutating func take(_ samples: [Float], at time: Double) {
    // After a hole nothing is known of what came before.
    if let next, abs(next - time) > 0.001 { restart() }
    let step = 2 * .pi * frequency / Double(sampleRate)
    for (index, sample) in samples.enumerated() {
      let mixed = (cosine: Double(sample) * cos(phase), sine: Double(sample) * sin(phase))
      phase = (phase + step).truncatingRemainder(dividingBy: 2 * .pi)
      sum.cosine += mixed.cosine - ring[position].cosine
      sum.sine += mixed.sine - ring[position].sine
      ring[position] = mixed
      position = (position + 1) % ring.count
      let height = 2 * (sum.cosine * sum.cosine + sum.sine * sum.sine).squareRoot() / Double(ring.count)
      judge(height, at: time + Double(index) / Double(sampleRate))
      before = height
    }
    next = time + Double(samples.count) / Double(sampleRate)
  }

  private mutating func judge(_ height: Double, at time: Double) {
    if height >= threshold {
      quietSince = nil
      guard !isBeeping else { return }
      isBeeping = true
      let fraction = height > before ? (height - threshold) / (height - before) : 0
      let crossing = time + (1 - min(fraction, 1)) / Double(sampleRate)
      onsets.append(crossing - Double(ring.count) / Double(sampleRate) / 2)
    } else if isBeeping {
      let since = quietSince ?? time
      quietSince = since
      if time - since > Self.rest { isBeeping = false }
    }
  }

  private mutating func restart() {
    for index in ring.indices { ring[index] = (0, 0) }
    sum = (0, 0)
    before = 0
    isBeeping = false
    quietSince = nil
  }
}
