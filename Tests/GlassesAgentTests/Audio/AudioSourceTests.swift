import MediaEngine
import TestSupport
import Testing
import Units

@testable import GlassesAgent

/// What sources give, sample by sample.
@Suite("Sources of sound")
struct AudioSourceTests {
  private func read(_ source: some AudioSource, from position: Int = 0, _ frames: Int) throws -> [Float] {
    var samples: [Float] = []
    try source.read(from: position, frames: frames, into: &samples)
    return samples
  }

  @Test("the pattern beeps with each flash, over its tone, to the sample", arguments: [16_000, 44_100, 48_000])
  func pattern(rate: Int) throws {
    let samples = try read(PatternAudio(format: PCMFormat(sampleRate: rate, channels: 1)), 3 * rate)
    for second in 0..<3 {
      let beep = Array(samples[second * rate..<second * rate + rate / 10])
      let rest = Array(samples[second * rate + rate / 10..<(second + 1) * rate])
      #expect(abs(ToneMeter.level(of: 1000, in: beep, sampleRate: rate) - 0.2512) < 0.001)
      #expect(abs(ToneMeter.level(of: 440, in: beep, sampleRate: rate) - 0.01) < 0.001)
      #expect(ToneMeter.level(of: 1000, in: rest, sampleRate: rate) < 0.0005)
      #expect(abs(ToneMeter.level(of: 440, in: rest, sampleRate: rate) - 0.01) < 0.0005)
      // The flash lasts as long.
      #expect(PatternSource.flashDuration == .milliseconds(100))
    }
  }

  @Test("any position gives the same samples as a run from the beginning; before it and on all channels alike")
  func positions() throws {
    let format = PCMFormat(sampleRate: 16_000, channels: 2)
    for source in [
      PatternAudio(format: format), ToneAudio(frequency: 440, level: -20, format: format),
      ToneAudio(frequency: 443.7, level: -6, format: format), SilentAudio(format: format),
    ] as [any AudioSource] {
      let all = try read(source, 40_000)
      #expect(all.count == 80_000)
      #expect(try read(source, from: 15_990, 20_000) == Array(all[31_980..<71_980]))
      #expect(stride(from: 0, to: 80_000, by: 2).allSatisfy { all[$0] == all[$0 + 1] })
      #expect(try read(source, from: -5, 10).count == 20)
    }
  }

  @Test("a tone has its frequency and level; one that the rate can't carry, and one that is none, is silent")
  func tones() throws {
    let format = PCMFormat(sampleRate: 16_000, channels: 1)
    let tone = try read(ToneAudio(frequency: 1234.5, level: -20, format: format), 32_000)
    #expect(abs(try #require(ToneMeter.frequency(of: tone, sampleRate: 16_000)) - 1234.5) < 0.05)
    #expect(abs(ToneMeter.level(of: 1234.5, in: tone, sampleRate: 16_000) - 0.1) < 0.001)
    #expect((tone.map(abs).max() ?? 0) <= 0.1)
    for (frequency, level) in [(8000.0, 0.0), (-1, 0), (.nan, 0), (440, .nan), (.infinity, -20), (440, -.infinity)] {
      let samples = try read(ToneAudio(frequency: frequency, level: level, format: format), 100)
      #expect(samples.allSatisfy { $0 == 0 }, "\(frequency) Hz, \(level) dB")
    }
    let loud = try read(ToneAudio(frequency: 441.5, level: 12, format: format), 16_000)
    #expect((loud.map(abs).max() ?? 0) <= 1)
  }

  @Test("read between its samples a source keeps its tone, and at its samples it is what it is")
  func skewed() throws {
    let format = PCMFormat(sampleRate: 48_000, channels: 2)
    let source = ToneAudio(frequency: 1000, level: -6, format: format)
    var exact: [Float] = []
    try source.read(from: 7.0, step: 1, frames: 500, channels: 2, into: &exact)
    #expect(exact == (try read(source, from: 7, 500)))
    var skewed: [Float] = []
    let step = 1 / 1.0003
    for block in 0..<100 {
      try source.read(from: Double(block * 960) * step, step: step, frames: 960, channels: 2, into: &skewed)
    }
    let left = stride(from: 0, to: skewed.count, by: 2).map { skewed[$0] }
    #expect(left == stride(from: 1, to: skewed.count, by: 2).map { skewed[$0] })
    #expect(abs(try #require(ToneMeter.frequency(of: left, sampleRate: 48_000)) - 1000 * step) < 0.01)
    // No click at the blocks' seams.
    let largest = zip(left, left.dropFirst()).map { abs($0 - $1) }.max() ?? 0
    #expect(largest < 0.501 * 2 * .pi * 1000 / 48_000)
  }
}
