import Foundation

/// Sound of which any 20 ms say when they are of: a low tone on each side, of frequencies that part slowly. Each tone says
/// it to a fraction of a millisecond, and both together which of its waves is meant.
package enum TimeTones {
  private static let frequencies = (left: 61.0, right: 68.0)

  /// Both sides' samples, beginning at phase 0; those of whole seconds can be played over and over.
  package static func samples(sampleRate: Int, seconds: Int = 1) -> [[Float]] {
    [frequencies.left, frequencies.right].map {
      SineTone.samples(frequency: $0, sampleRate: sampleRate, count: seconds * sampleRate)
    }
  }

  /// How many seconds later than it should be the sound is that one listens to, within ±70 ms: negative where it is of an
  /// earlier moment.
  ///
  /// - Parameters:
  ///   - sides: of a few hundredths of a second.
  ///   - time: of their first sample, in seconds since the tones began.
  /// - Returns: nil where there is no such sound.
  package static func advance(of sides: [[Float]], at time: Double, sampleRate: Int) -> Double? {
    guard sides.count == 2, let left = phase(of: frequencies.left, in: sides[0], at: time, sampleRate),
      let right = phase(of: frequencies.right, in: sides[1], at: time, sampleRate)
    else { return nil }
    let coarse = remainder(right - left, 2 * .pi) / (2 * .pi * (frequencies.right - frequencies.left))
    let step = 2 * .pi * frequencies.left
    return coarse + remainder(left - step * coarse, 2 * .pi) / step
  }

  /// By how much a tone is ahead of one that began at time 0: least squares over some of its samples.
  private static func phase(of frequency: Double, in samples: [Float], at time: Double, _ sampleRate: Int) -> Double? {
    let step = 2 * .pi * frequency / Double(sampleRate)
    var (cc, cs, ss, xc, xs) = (0.0, 0.0, 0.0, 0.0, 0.0)
    samples.withUnsafeBufferPointer { samples in
      var index = 0
      while index < samples.count {
        let angle = 2 * .pi * frequency * time + step * Double(index)
        let (c, s, x) = (cos(angle), sin(angle), Double(samples[index]))
        cc += c * c
        cs += c * s
        ss += s * s
        xc += x * c
        xs += x * s
        index += 9
      }
    }
    let determinant = cc * ss - cs * cs
    guard determinant > 1e-3 else { return nil }
    let (cosine, sine) = ((xc * ss - xs * cs) / determinant, (xs * cc - xc * cs) / determinant)
    return cosine * cosine + sine * sine > 0.01 ? atan2(cosine, sine) : nil
  }
}
