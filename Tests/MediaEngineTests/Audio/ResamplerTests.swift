import Foundation
import TestSupport
import Testing

@testable import MediaEngine

@Suite("Resampling sound")
struct ResamplerTests {
  private static let rates = [8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000]
  private static let pairs = rates.flatMap { from in rates.map { (from, $0) } }

  /// Converts in stretches of changing length and flushes.
  private func run(_ resampler: Resampler, _ samples: [Float], stretch: Int) throws -> [Float] {
    var output: [Float] = []
    var start = 0
    var length = stretch
    while start < samples.count {
      let end = min(samples.count, start + length * resampler.from.channels)
      output += try resampler.convert(Array(samples[start..<end]))
      start = end
      length = length % (2 * stretch) + 7
    }
    return output + (try resampler.flush())
  }

  @Test("AUD-1: every run of N frames gives N times the ratio of the rates, to the frame", arguments: pairs)
  func exactCount(_ from: Int, _ to: Int) throws {
    let resampler = try Resampler(
      from: PCMFormat(sampleRate: from, channels: 1), to: PCMFormat(sampleRate: to, channels: 1))
    for frames in [0, 1, 2, 3, 17, 100, 441, 18_766, 24_689, from / 2, from + 1] {
      let tone = SineTone.samples(frequency: 440, sampleRate: from, count: frames)
      let output = try run(resampler, tone, stretch: from / 50)
      #expect(output.count == Int((Double(frames) * Double(to) / Double(from)).rounded()), "\(frames) frames")
      #expect(resampler.delay == .zero)
    }
  }

  @Test(
    "AUD-1: frame k of the output is the sound at k output intervals, from the beginning to the end", arguments: pairs)
  func noShift(_ from: Int, _ to: Int) throws {
    let resampler = try Resampler(
      from: PCMFormat(sampleRate: from, channels: 1), to: PCMFormat(sampleRate: to, channels: 1))
    let tone = SineTone.samples(frequency: 440, sampleRate: from, count: from)
    for round in 0..<2 {
      let output = try run(resampler, tone, stretch: from / 50)
      let ideal = SineTone.samples(frequency: 440, sampleRate: to, count: output.count)
      // The filter sees nothing before the first frame and after the last.
      let edge = max(32, 32 * to / from)
      let errors = zip(output, ideal).map { abs($0 - $1) }
      #expect(errors.dropFirst(edge).dropLast(edge).max() ?? 0 < 0.0001, "round \(round)")
      #expect(errors.max() ?? 0 < 0.2)
    }
  }

  @Test("AUD-1: 16 kHz mono from 44.1 kHz stereo: the tone stays within 0.1 %, the length within a frame")
  func microphoneFromFeed() throws {
    let resampler = try Resampler(
      from: PCMFormat(sampleRate: 44_100, channels: 2), to: PCMFormat(sampleRate: 16_000, channels: 1))
    let tone = SineTone.samples(frequency: 1000, sampleRate: 44_100, count: 441_000)
    let output = try run(resampler, SineTone.interleaved([tone, tone]), stretch: 882)
    #expect(output.count == 160_000)
    #expect(abs(try #require(ToneMeter.frequency(of: output, sampleRate: 16_000)) - 1000) < 0.1)
    #expect(abs(ToneMeter.level(of: 1000, in: output, sampleRate: 16_000) - 0.5) < 0.001)
  }

  @Test("The same form on both sides passes every sample at once, bit for bit", arguments: [1, 2])
  func passThrough(_ channels: Int) throws {
    let format = PCMFormat(sampleRate: 16_000, channels: channels)
    let resampler = try Resampler(from: format, to: format)
    var generator = SystemRandomNumberGenerator()
    for count in [0, 1, 15, 16, 17, 320, 960] {
      let samples = (0..<count * channels).map { _ in
        let bits: UInt32 = generator.next()
        return Float(bitPattern: bits & 0x3fff_ffff)
      }
      #expect(try resampler.convert(samples) == samples)
      #expect(resampler.delay == .zero)
    }
    #expect(try resampler.flush() == [])
  }

  @Test("Mono goes to both sides at full level; stereo becomes the mean of its sides", arguments: [16_000, 48_000])
  func mixing(_ rate: Int) throws {
    let mono = PCMFormat(sampleRate: 48_000, channels: 1)
    let stereo = PCMFormat(sampleRate: 48_000, channels: 2)
    let left = SineTone.samples(frequency: 440, level: 0.4, sampleRate: 48_000, count: 48_000)
    let right = SineTone.samples(frequency: 1000, level: 0.8, sampleRate: 48_000, count: 48_000)

    let toStereo = try Resampler(from: mono, to: PCMFormat(sampleRate: rate, channels: 2))
    let both = try run(toStereo, left, stretch: 960)
    let sides = (0..<2).map { side in stride(from: side, to: both.count, by: 2).map { both[$0] } }
    #expect(sides[0] == sides[1])
    #expect(abs(ToneMeter.level(of: 440, in: sides[0], sampleRate: rate) - 0.4) < 0.001)

    let toMono = try Resampler(from: stereo, to: PCMFormat(sampleRate: rate, channels: 1))
    let one = try run(toMono, SineTone.interleaved([left, right]), stretch: 960)
    #expect(abs(ToneMeter.level(of: 440, in: one, sampleRate: rate) - 0.2) < 0.001)
    #expect(abs(ToneMeter.level(of: 1000, in: one, sampleRate: rate) - 0.4) < 0.001)

    let kept = try Resampler(from: stereo, to: PCMFormat(sampleRate: rate, channels: 2))
    let stereoOut = try run(kept, SineTone.interleaved([left, right]), stretch: 960)
    let keptLeft = stride(from: 0, to: stereoOut.count, by: 2).map { stereoOut[$0] }
    #expect(abs(ToneMeter.level(of: 440, in: keptLeft, sampleRate: rate) - 0.4) < 0.001)
    #expect(ToneMeter.level(of: 1000, in: keptLeft, sampleRate: rate) < 0.001)
  }

  @Test(
    "Compensation begins, changes and ends without a step, a loss or a repetition",
    arguments: [16_000, 48_000], [1, 2])
  func compensationIsSmooth(_ rate: Int, _ channels: Int) throws {
    let format = PCMFormat(sampleRate: rate, channels: channels)
    let resampler = try Resampler(from: format, to: format)
    let frequency = 1000.0
    let block = rate / 50
    let plan: [(seconds: Double, ppm: Double)] = [
      (0.5, 0), (2, 300), (0.02, 0), (1, -1000), (0.5, 0), (1, 137.5), (0.3, -20), (1, 0), (0.02, 1000), (1, 0),
    ]
    var output: [Float] = []
    var expected = 0.0
    var next = 0
    for step in plan {
      resampler.compensate(ppm: step.ppm)
      for _ in 0..<Int(step.seconds * 50) {
        let tone = SineTone.samples(frequency: frequency, sampleRate: rate, count: block, from: next)
        next += block
        expected += Double(block) * (1 + step.ppm / 1e6)
        output += try resampler.convert(SineTone.interleaved(Array(repeating: tone, count: channels)))
      }
      #expect(resampler.delay <= .milliseconds(2))
    }
    output += try resampler.flush()
    // Gliding to whole frames moves by half a frame at most, each time.
    #expect(abs(Double(output.count / channels) - expected) <= 4)
    for channel in 0..<channels {
      let side = stride(from: channel, to: output.count, by: channels).map { Double(output[$0]) }
      // Each sample of a sine follows from the two before it: a step or a repeated sample would stand out.
      let w = 2 * Double.pi * frequency / Double(rate)
      let twice = 2 * cos(w)
      var worst = 0.0
      for index in 1..<side.count - 1 {
        let foreseen = twice * side[index] - side[index - 1]
        worst = max(worst, abs(side[index + 1] - foreseen))
      }
      #expect(worst < 0.0005)
      let steepest = zip(side, side.dropFirst()).map { abs($0 - $1) }.max() ?? 0
      #expect(steepest <= 0.5 * w * 1.002)
    }
  }

  @Test("After compensation, samples are left alone again: bit for bit, a whole number of frames later")
  func backToBypass() throws {
    let format = PCMFormat(sampleRate: 48_000, channels: 1)
    let resampler = try Resampler(from: format, to: format)
    var generator = SystemRandomNumberGenerator()
    let noise = (0..<48_000 * 3).map { _ in Float.random(in: -1...1, using: &generator) }
    var output: [Float] = []
    for (number, start) in stride(from: 0, to: noise.count, by: 960).enumerated() {
      resampler.compensate(ppm: (20..<60).contains(number) ? 613 : 0)
      output += try resampler.convert(Array(noise[start..<start + 960]))
    }
    output += try resampler.flush()
    let added = output.count - noise.count
    #expect(abs(added - Int((40 * 960 * 613e-6).rounded())) <= 1)
    #expect(Array(output[..<(20 * 960)]) == Array(noise[..<(20 * 960)]))
    #expect(Array(output.suffix(48_000)) == Array(noise.suffix(48_000)))
  }

  @Test("What is not a number or beyond the limit is no compensation, or the limit")
  func absurdCompensation() throws {
    let format = PCMFormat(sampleRate: 16_000, channels: 1)
    let tone = SineTone.samples(frequency: 440, sampleRate: 16_000, count: 160_000)
    for (asked, frames) in [(Double.nan, 160_000), (.infinity, 160_000), (1e9, 160_160), (-1e9, 159_840)] {
      let resampler = try Resampler(from: format, to: format)
      resampler.compensate(ppm: asked)
      #expect(abs(try run(resampler, tone, stretch: 320).count - frames) <= 1)
    }
  }

  @Test("Other rates are compensated as well", arguments: [300.0, -300])
  func compensatedConversion(_ ppm: Double) throws {
    let resampler = try Resampler(
      from: PCMFormat(sampleRate: 44_100, channels: 2), to: PCMFormat(sampleRate: 16_000, channels: 1))
    resampler.compensate(ppm: ppm)
    let tone = SineTone.samples(frequency: 1000, sampleRate: 44_100, count: 44_100 * 10)
    let output = try run(resampler, SineTone.interleaved([tone, tone]), stretch: 882)
    #expect(abs(Double(output.count) - 160_000 * (1 + ppm / 1e6)) <= 1)
    let frequency = try #require(ToneMeter.frequency(of: output, sampleRate: 16_000))
    #expect(abs(frequency - 1000 / (1 + ppm / 1e6)) < 0.02)
  }

  @Test("Forms that are none are refused")
  func refusals() {
    let good = PCMFormat(sampleRate: 48_000, channels: 2)
    for (rate, channels) in [(0, 1), (-1, 1), (48_000, 0), (48_000, 3), (48_000, -1), (Int.max, 1)] {
      let bad = PCMFormat(sampleRate: rate, channels: channels)
      expectCause(.audioFormatNotSupported) { try Resampler(from: bad, to: good) }
      expectCause(.audioFormatNotSupported) { try Resampler(from: good, to: bad) }
    }
  }

  @Test("Times and frames are converted without overflow and to the nearest")
  func durations() {
    let format = PCMFormat(sampleRate: 44_100, channels: 1)
    #expect(format.duration(frames: 44_100) == .seconds(1))
    #expect(format.duration(frames: 1) == .nanoseconds(22_676))
    #expect(format.duration(frames: -1) == .nanoseconds(-22_676))
    #expect(format.frames(in: .nanoseconds(22_676)) == 1)
    #expect(format.frames(in: .milliseconds(-10)) == -441)
    for frames in [0, 1, 441, 99_999_999, Int.max, Int.min] { _ = format.duration(frames: frames) }
    _ = format.frames(in: .seconds(Int64.max))
    _ = PCMFormat(sampleRate: .min, channels: 1).duration(frames: .max)
  }
}
