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
    (first..<first + count).map { index in
      level * Float(sin(2 * .pi * frequency * Double(index) / Double(sampleRate)))
    }
  }

  /// Channels' samples one after the other for each moment, as many as the shortest has.
  package static func interleaved(_ channels: [[Float]]) -> [Float] {
    let frames = channels.map(\.count).min() ?? 0
    return (0..<frames).flatMap { frame in channels.map { $0[frame] } }
  }
}
