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
  /// Samples of a frame that is not whole are left out.
  package func convert(_ samples: [Float]) throws(MediaError) -> [Float] {
    try state.withLock { state throws(MediaError) in try state.convert(samples) }
  }

  /// What was held back. From the first `convert` on, N frames went in and N · to / from came out, rounded to the nearest,
  /// or as many more or less as `compensate` asked for. The next `convert` begins anew, with output frame 0.
  package func flush() throws(MediaError) -> [Float] {
    try state.withLock { state throws(MediaError) in try state.flush() }
  }

  /// From now on yields so many millionths more output frames (fewer when negative), for a source whose clock runs slow
  /// (fast). Held within ±1000; what is not a number is 0.
  ///
  /// Begins and ends without a step: samples are interpolated at positions that drift away from the input's, and with 0
  /// glide back to the nearest, from where on they are left alone again. While it lasts, a few frames are held back.
  package func compensate(ppm: Double) { state.withLock { $0.compensate(ppm: ppm) } }

  /// How much sound has gone in and not come out: how much later than its input a frame comes.
  package var delay: Duration { state.withLock { $0.delay } }
}

/// The resampler's inside: sides are mixed where there are fewer of them, so that the filters have less to do.
private struct ResamplerState {
  private let from: PCMFormat
  private let to: PCMFormat
  /// nil where the rates are the same.
  private let converter: RateConverter?
  private var drift: DriftInterpolator
  private var framesIn = 0
  private var framesConverted = 0
  private var lastFrame: [Float] = []

  init(from: PCMFormat, to: PCMFormat) throws(MediaError) {
    try from.check(while: .opening)
    try to.check(while: .opening)
    self.from = from
    self.to = to
    let channels = min(from.channels, to.channels)
    converter = from.sampleRate == to.sampleRate ? nil : try RateConverter(from.sampleRate, to.sampleRate, channels)
    drift = DriftInterpolator(channels: channels)
  }

  mutating func convert(_ samples: [Float]) throws(MediaError) -> [Float] {
    let isWhole = samples.count.isMultiple(of: from.channels)
    let whole = isWhole ? samples : Array(samples.dropLast(samples.count % from.channels))
    let mixed = to.channels < from.channels ? ChannelMix.mean(whole) : whole
    framesIn += whole.count / from.channels
    guard let converter else { return widened(drift.convert(mixed)) }
    lastFrame = mixed.count >= converter.channels ? Array(mixed.suffix(converter.channels)) : lastFrame
    let converted = try converter.convert(mixed)
    framesConverted += converted.count / converter.channels
    return widened(drift.convert(converted))
  }

  mutating func flush() throws(MediaError) -> [Float] {
    var rest: [Float] = []
    if let converter, framesIn > 0 {
      let exact = Double(framesIn) * Double(to.sampleRate) / Double(from.sampleRate)
      let wanted = max(0, Int(exact.rounded()) - framesConverted) * converter.channels
      rest = drift.convert(try converter.flush(repeating: lastFrame, samples: wanted))
    }
    rest += drift.flush()
    framesIn = 0
    framesConverted = 0
    return widened(rest)
  }

  mutating func compensate(ppm: Double) { drift.ppm = ppm }

  var delay: Duration {
    let held = PCMFormat(sampleRate: to.sampleRate, channels: 1).duration(frames: drift.heldFrames)
    return (converter?.delay ?? .zero) + held
  }

  private func widened(_ samples: [Float]) -> [Float] {
    to.channels > from.channels ? ChannelMix.doubled(samples) : samples
  }
}

/// Between one and two channels.
enum ChannelMix {
  /// Stereo to mono: the mean of the sides, which never clips.
  static func mean(_ stereo: [Float]) -> [Float] {
    [Float](unsafeUninitializedCapacity: stereo.count / 2) { buffer, count in
      for frame in 0..<stereo.count / 2 { buffer[frame] = (stereo[2 * frame] + stereo[2 * frame + 1]) / 2 }
      count = stereo.count / 2
    }
  }

  /// Mono to stereo: both sides at full level.
  static func doubled(_ mono: [Float]) -> [Float] {
    [Float](unsafeUninitializedCapacity: mono.count * 2) { buffer, count in
      for frame in 0..<mono.count {
        buffer[2 * frame] = mono[frame]
        buffer[2 * frame + 1] = mono[frame]
      }
      count = mono.count * 2
    }
  }
}
