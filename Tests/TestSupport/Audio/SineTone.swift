import Foundation

/// Makes samples of a sine, for tests that send sound.
package enum SineTone {
  /// One channel's samples, beginning at phase 0.
  ///
  /// - Parameters:
  ///   - level: the amplitude; 1 is full scale.
  ///   - from: the number of the first sample, for a tone that goes on from an earlier stretch.
  package static func samples(
    frequency: Double, level: Float = 0.5, sampleRate: Int, count: Int, from first: Int = 0
  ) -> [Float] {
    let step = 2 * Double.pi * frequency / Double(sampleRate)
    return [Float](unsafeUninitializedCapacity: count) { samples, initialized in
      guard let base = samples.baseAddress else { return }
      for index in 0..<count { base[index] = level * Float(sin(step * Double(first + index))) }
      initialized = count
    }
  }

  /// Channels' samples one after the other for each moment, as many as the shortest has.
  package static func interleaved(_ channels: [[Float]]) -> [Float] {
    let frames = channels.map(\.count).min() ?? 0
    guard channels.count > 1 else { return channels.first ?? [] }
    var samples: [Float] = []
    samples.reserveCapacity(frames * channels.count)
    for frame in 0..<frames {
      for channel in channels { samples.append(channel[frame]) }
    }
    return samples
  }
}
