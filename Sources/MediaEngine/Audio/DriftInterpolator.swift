import Glibc

/// Makes sound a little longer or shorter, by up to a thousandth, to follow a clock.
///
/// Output is input at positions that advance by nearly one frame: a windowed sinc of 32 taps reads between the frames. At a
/// whole position that filter is one single tap, so a run of whole positions is the input itself, bit for bit. This is
/// what makes turning it on and off seamless: it begins at a whole position, and on its end positions glide to a whole
/// one, faster than can be noticed and slower than can be heard, before samples are left alone. libswresample has a compensation of its own,
/// but begins it by making its filter anew, and filters whole positions too.
///
/// The filter passes up to 0.84 of half the rate untouched.
struct DriftInterpolator {
  /// Frames on each side of a position that the filter sees.
  private static let half = 16
  /// How fast positions glide to a whole one, in frames a frame: half a frame is done in 2500.
  private static let glide = 0.0002
  private static let limit = 1000.0

  /// Millionths by which the output is longer.
  var ppm: Double {
    get { excess }
    set { excess = newValue.isFinite ? min(max(newValue, -Self.limit), Self.limit) : 0 }
  }

  private let channels: Int
  private var excess = 0.0
  /// Frames before the position that the filter needs, and those that have not been read yet.
  private var buffer: [Float] = []
  /// The frame in `buffer` at or before the position, and how far behind it the position is, below 1.
  private var index = 0
  private var fraction = 0.0

  init(channels: Int) { self.channels = channels }

  /// Frames that are held back.
  var heldFrames: Int { max(0, buffer.count / channels - index) }

  private var isResting: Bool { excess == 0 && fraction == 0 }

  mutating func convert(_ samples: [Float]) -> [Float] {
    guard !samples.isEmpty else { return [] }
    // The first frame stands for those before it: silence there would make the filter ring.
    if buffer.isEmpty {
      buffer = Self.repeated(samples.prefix(channels), Self.half)
      index = Self.half
    }
    if isResting, heldFrames == 0 {
      keep(samples)
      return samples
    }
    buffer += samples
    let end = buffer.count / channels
    return read(until: Double(end - Self.half), restingUntil: end)
  }

  /// What is held back; the next frame begins anew.
  mutating func flush() -> [Float] {
    defer {
      buffer = []
      index = 0
      fraction = 0
    }
    guard heldFrames > 0 else { return [] }
    let end = buffer.count / channels
    buffer += Self.repeated(buffer.suffix(channels), Self.half + 1)
    return read(until: Double(end) - 0.5, restingUntil: end)
  }

  /// Frames at positions before `end`; from where positions rest, all before `restingEnd`.
  private mutating func read(until end: Double, restingUntil restingEnd: Int) -> [Float] {
    var output: [Float] = []
    output.reserveCapacity(max(0, restingEnd - index + 2) * channels)
    if !isResting { interpolate(until: end, into: &output) }
    if isResting, index < restingEnd {
      output += buffer[index * channels..<restingEnd * channels]
      index = restingEnd
    }
    let spare = index - Self.half
    if spare > 0 {
      buffer.removeFirst(spare * channels)
      index -= spare
    }
    return output
  }

  /// Notes the end of what passed untouched, for a filter that may begin behind it.
  private mutating func keep(_ samples: [Float]) {
    let kept = Self.half * channels
    if samples.count >= kept {
      buffer.replaceSubrange(0..<buffer.count, with: samples.suffix(kept))
    } else {
      buffer += samples
      buffer.removeFirst(max(0, buffer.count - kept))
    }
    index = buffer.count / channels
  }

  /// Frames at positions before `end`, until positions rest.
  private mutating func interpolate(until end: Double, into output: inout [Float]) {
    let channels = channels
    let step = 1 / (1 + excess / 1_000_000)
    let glides = excess == 0
    var (index, fraction) = (index, fraction)
    defer { (self.index, self.fraction) = (index, fraction) }
    SincTable.coefficients.withUnsafeBufferPointer { table in
      buffer.withUnsafeBufferPointer { samples in
        guard let table = table.baseAddress, let samples = samples.baseAddress else { return }
        while Double(index) + fraction < end {
          let scaled = fraction * Double(SincTable.phases)
          let phase = Int(scaled)
          let first = samples + (index - Self.half + 1) * channels
          for channel in 0..<channels {
            output.append(
              Self.value(
                first + channel, channels, by: table + phase * SincTable.taps, Float(scaled - Double(phase))))
          }
          guard glides else {
            fraction += step
            let whole = Int(fraction)
            index += whole
            fraction -= Double(whole)
            continue
          }
          index += 1
          fraction = fraction < 0.5 ? max(0, fraction - Self.glide) : fraction + Self.glide
          if fraction >= 1 {
            fraction = 0
            index += 1
          }
          if fraction == 0 { return }
        }
      }
    }
  }

  /// The sum of every `step`-th sample, weighted by taps between those of a phase and of the next. Four sums side by side
  /// for each phase: none waits for another.
  private static func value(
    _ samples: UnsafePointer<Float>, _ step: Int, by lower: UnsafePointer<Float>, _ between: Float
  ) -> Float {
    let upper = lower + SincTable.taps
    var (a, b, c, d): (Float, Float, Float, Float) = (0, 0, 0, 0)
    var (e, f, g, h): (Float, Float, Float, Float) = (0, 0, 0, 0)
    var sample = samples
    var tap = 0
    while tap < SincTable.taps {
      let (first, second, third, fourth) = (sample[0], sample[step], sample[2 &* step], sample[3 &* step])
      a = a + first * lower[tap]
      b = b + second * lower[tap &+ 1]
      c = c + third * lower[tap &+ 2]
      d = d + fourth * lower[tap &+ 3]
      e = e + first * upper[tap]
      f = f + second * upper[tap &+ 1]
      g = g + third * upper[tap &+ 2]
      h = h + fourth * upper[tap &+ 3]
      sample += 4 &* step
      tap = tap &+ 4
    }
    let sum = (a + b) + (c + d)
    return sum + between * ((e + f) + (g + h) - sum)
  }

  private static func repeated(_ frame: ArraySlice<Float>, _ count: Int) -> [Float] {
    var frames: [Float] = []
    frames.reserveCapacity(frame.count * count)
    for _ in 0..<count { frames += frame }
    return frames
  }
}

/// A sinc in a Kaiser window (80 dB), at 256 phases between two frames; between phases a straight line is exact to 94 dB.
private enum SincTable {
  static let taps = 32
  static let phases = 256
  private static let beta = 8.0

  /// The taps of each phase, and of the one that follows the last: the first, moved by a frame.
  static let coefficients: [Float] = {
    var all: [Float] = []
    all.reserveCapacity((phases + 1) * taps)
    for phase in 0...phases {
      let fraction = Double(phase) / Double(phases)
      let row = (0..<taps).map { tap in value(at: Double(tap - taps / 2 + 1) - fraction) }
      let sum = row.reduce(0, +)
      all += row.map { Float($0 / sum) }
    }
    return all
  }()

  private static func value(at x: Double) -> Double {
    guard x != 0 else { return 1 }
    guard x != x.rounded() else { return 0 }
    let half = Double(taps / 2)
    guard abs(x) < half else { return 0 }
    let window = bessel(beta * (1 - (x / half) * (x / half)).squareRoot()) / bessel(beta)
    return sin(.pi * x) / (.pi * x) * window
  }

  /// The modified Bessel function of order 0, by its power series.
  private static func bessel(_ x: Double) -> Double {
    var term = 1.0
    var sum = 1.0
    var k = 1.0
    while term > sum * 1e-16 {
      term *= (x / 2 / k) * (x / 2 / k)
      sum += term
      k += 1
    }
    return sum
  }
}
