import MediaEngine
import Units

/// When each sample is captured: numbers samples from 0 and places them in the host's time.
///
/// A clock of audio hardware, which need not agree with the host's to the last millionth. In step with it, a number of
/// samples that makes whole nanoseconds lies exactly there, however long it has run.
///
/// A value without a clock of its own.
package struct SampleClock: Sendable {
  private let format: PCMFormat
  private var anchor: (index: Int, moment: Instant)
  private var partsPerMillion: Double

  /// - Parameters:
  ///   - start: when sample 0 is captured.
  ///   - partsPerMillion: how much faster it runs than the host's clock.
  package init(rate: Int, start: Instant, partsPerMillion: Double = 0) {
    format = PCMFormat(sampleRate: max(rate, 1), channels: 1)
    anchor = (0, start)
    self.partsPerMillion = partsPerMillion
  }

  /// True when as many samples come in a second of the host as the rate says.
  package var isNominal: Bool { partsPerMillion == 0 }

  /// Of the time from one sample to the next, the part that the rate says.
  package var step: Double { 1 / (1 + partsPerMillion / 1e6) }

  /// Runs at another rate from a sample on.
  package mutating func change(partsPerMillion: Double, from index: Int) {
    guard partsPerMillion != self.partsPerMillion else { return }
    anchor = (index, moment(of: index))
    self.partsPerMillion = partsPerMillion
  }

  /// When a sample is captured, to the nanosecond.
  package func moment(of index: Int) -> Instant {
    let samples = index.subtractingSaturating(anchor.index)
    guard !isNominal else { return anchor.moment + format.duration(frames: samples) }
    let nominal = Double(samples) * 1e9 / Double(format.sampleRate)
    return anchor.moment + .nanoseconds(Int64(saturating: (nominal * step).rounded()))
  }

  /// The sample whose time is nearest.
  package func index(nearest moment: Instant) -> Int {
    let elapsed = moment - anchor.moment
    guard !isNominal else { return anchor.index.addingSaturating(format.frames(in: elapsed)) }
    let samples = Double(elapsed.nanoseconds) * Double(format.sampleRate) / 1e9 / step
    return anchor.index.addingSaturating(Int(Int64(saturating: samples.rounded())))
  }

  /// The first sample at that time or later.
  package func index(from moment: Instant) -> Int {
    let index = index(nearest: moment)
    return self.moment(of: index) < moment ? index.addingSaturating(1) : index
  }
}
