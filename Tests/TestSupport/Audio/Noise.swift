import Units

/// Samples that are like no others, for tests that look for them bit by bit.
package enum Noise {
  /// Full scale; the same for the same seed.
  package static func samples(_ count: Int, seed: UInt64) -> [Float] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { _ in Float.random(in: -1...1, using: &generator) }
  }
}
