import Foundation

/// Finds when a beep begins in samples that come in stretches, each with the time of its first one.
///
/// The signal is mixed down with the beep's frequency and averaged over a window of 5 ms. What begins at once rises in it
/// as a straight line, so the moment at which it stands at half its height is the middle of the window at the onset.
/// Samples too quiet to raise the average above half of that are taken for silence, which is what most are.
package struct BeepDetector {
  /// Seconds, on the stamps' clock.
  package private(set) var onsets: [Double] = []

  private static let window = 0.005
  /// Quieter than this for so long is the end of a beep.
  private static let rest = 0.02

  private let sampleRate: Double
  private let threshold: Double
  /// The beep's wave, from phase 0 to where a sample has that phase again.
  private let wave: (cosines: [Double], sines: [Double])
  private var phase = 0
  /// The window's samples, mixed down, as rings.
  private var ring: (cosines: [Double], sines: [Double])
  private var position = 0
  private var sum = (cosine: 0.0, sine: 0.0)
  /// How many of the latest samples were quiet.
  private var quiet: Int
  private var before = 0.0
  private var isBeeping = false
  private var quietSince: Double?
  /// When the next sample is due if no stretch is missing.
  private var next: Double?

  /// - Parameters:
  ///   - frequency: in hertz.
  ///   - level: the beep's amplitude.
  package init(frequency: Int = 1000, level: Double, sampleRate: Int) {
    self.sampleRate = Double(sampleRate)
    threshold = level / 2
    let phases = (1...sampleRate).first { ($0 * frequency).isMultiple(of: sampleRate) } ?? sampleRate
    let angles = (0..<phases).map { 2 * .pi * Double($0 * frequency) / Double(sampleRate) }
    wave = (angles.map { cos($0) }, angles.map { sin($0) })
    let count = max(1, Int(Double(sampleRate) * Self.window))
    ring = (Array(repeating: 0, count: count), Array(repeating: 0, count: count))
    quiet = count
  }

  /// - Parameters:
  ///   - samples: of one channel.
  ///   - time: the first sample's presentation time in seconds.
  package mutating func take(_ samples: [Float], at time: Double) {
    samples.withUnsafeBufferPointer { take($0, at: time) }
  }

  package mutating func take(_ samples: UnsafeBufferPointer<Float>, at time: Double) {
    // After a hole nothing is known of what came before.
    if let next, abs(next - time) > 0.001 { restart() }
    let length = ring.sines.count
    for start in stride(from: 0, to: samples.count, by: length) {
      let piece = UnsafeBufferPointer(rebasing: samples[start..<min(start + length, samples.count)])
      let begin = time + Double(start) / sampleRate
      let isQuiet = isQuiet(piece)
      if isQuiet, quiet >= length {
        pass(piece.count, at: begin)
      } else {
        listen(to: piece, at: begin)
      }
      quiet = isQuiet ? quiet + piece.count : 0
    }
    next = time + Double(samples.count) / sampleRate
  }

  /// True where no window of such samples comes up to the threshold.
  private func isQuiet(_ samples: UnsafeBufferPointer<Float>) -> Bool {
    guard let base = samples.baseAddress else { return true }
    let limit = Float(threshold / 2)
    var index = 0
    while index < samples.count {
      let sample = base[index]
      if sample > limit || sample < -limit { return false }
      index &+= 1
    }
    return true
  }

  private mutating func pass(_ count: Int, at time: Double) {
    if before != 0 { forget() }
    phase = (phase + count) % wave.sines.count
    judge(0, at: time)
    judge(0, at: time + Double(count - 1) / sampleRate)
  }

  private mutating func listen(to samples: UnsafeBufferPointer<Float>, at time: Double) {
    for (index, sample) in samples.enumerated() {
      let cosine = Double(sample) * wave.cosines[phase]
      let sine = Double(sample) * wave.sines[phase]
      phase = phase + 1 == wave.sines.count ? 0 : phase + 1
      sum.cosine += cosine - ring.cosines[position]
      sum.sine += sine - ring.sines[position]
      ring.cosines[position] = cosine
      ring.sines[position] = sine
      position = position + 1 == ring.sines.count ? 0 : position + 1
      let height = 2 * (sum.cosine * sum.cosine + sum.sine * sum.sine).squareRoot() / Double(ring.sines.count)
      judge(height, at: time + Double(index) / sampleRate)
      before = height
    }
  }

  private mutating func judge(_ height: Double, at time: Double) {
    if height >= threshold {
      quietSince = nil
      guard !isBeeping else { return }
      isBeeping = true
      let fraction = height > before ? (height - threshold) / (height - before) : 0
      let crossing = time + (1 - min(fraction, 1)) / sampleRate
      onsets.append(crossing - Double(ring.sines.count) / sampleRate / 2)
    } else if isBeeping {
      let since = quietSince ?? time
      quietSince = since
      if time - since > Self.rest { isBeeping = false }
    }
  }

  private mutating func restart() {
    forget()
    quiet = ring.sines.count
    isBeeping = false
    quietSince = nil
  }

  /// What is in the window is silence.
  private mutating func forget() {
    for index in ring.sines.indices { (ring.cosines[index], ring.sines[index]) = (0, 0) }
    sum = (0, 0)
    before = 0
  }
}
