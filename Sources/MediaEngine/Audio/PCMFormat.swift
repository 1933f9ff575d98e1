import Units

/// The form of sound as samples: 32-bit floating point, -1 to 1, one value of each channel in turn (interleaved).
package struct PCMFormat: Hashable, Sendable {
  /// Frames of a second; a frame is one sample of each channel.
  package var sampleRate: Int
  package var channels: Int

  package init(sampleRate: Int, channels: Int) {
    self.sampleRate = sampleRate
    self.channels = channels
  }

  /// How long so many frames last, to the nearest nanosecond; saturating.
  package func duration(frames: Int) -> Duration {
    let rate = Int64(max(1, sampleRate))
    let (seconds, rest) = Int64(frames).quotientAndRemainder(dividingBy: rate)
    let half = rest < 0 ? -rate / 2 : rate / 2
    let fraction = rest.multipliedSaturating(by: 1_000_000_000).addingSaturating(half) / rate
    return .nanoseconds(seconds.multipliedSaturating(by: 1_000_000_000).addingSaturating(fraction))
  }

  /// The number of the frame nearest to a time, where frame 0 is at time 0; saturating.
  package func frames(in duration: Duration) -> Int {
    let (seconds, rest) = duration.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let half: Int64 = rest < 0 ? -500_000_000 : 500_000_000
    let fraction = rest.multipliedSaturating(by: Int64(sampleRate)).addingSaturating(half) / 1_000_000_000
    return Int(seconds.multipliedSaturating(by: Int64(sampleRate)).addingSaturating(fraction))
  }

  /// Throws `.audioFormatNotSupported` for what the engine does not take: less than 1 or more than 2 channels, or a rate
  /// that no sound has.
  func check(while stage: MediaError.Stage) throws(MediaError) {
    guard 1...2 ~= channels, Self.sampleRates ~= sampleRate else {
      throw MediaError(.audioFormatNotSupported, while: stage, "\(self)")
    }
  }

  /// From below what telephones use to above what studios do.
  static let sampleRates = 4000...768_000
}

extension PCMFormat: CustomStringConvertible {
  package var description: String { "\(sampleRate) Hz, \(channels) channel\(channels == 1 ? "" : "s")" }
}

/// Some sound, in samples.
package struct PCMBlock: Hashable, Sendable {
  package var format: PCMFormat
  /// Interleaved.
  package var samples: [Float]

  package init(format: PCMFormat, samples: [Float]) {
    self.format = format
    self.samples = samples
  }

  package init(silence frames: Int, format: PCMFormat) {
    self.init(format: format, samples: [Float](repeating: 0, count: max(0, frames) * max(0, format.channels)))
  }

  /// Whole frames.
  package var frames: Int { samples.count / max(1, format.channels) }
  package var duration: Duration { format.duration(frames: frames) }
}
