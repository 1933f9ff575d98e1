import TestSupport
import Testing

/// The tools that judge sound, against sound that is known.
struct AudioToolTests {
  @Test(
    "a tone's frequency reads to a tenth of a hertz", arguments: [440.0, 999, 1000, 1001], [16_000, 44_100, 48_000])
  func frequency(frequency: Double, sampleRate: Int) throws {
    let tone = SineTone.samples(frequency: frequency, sampleRate: sampleRate, count: sampleRate)
    let read = try #require(ToneMeter.frequency(of: tone, sampleRate: sampleRate))
    #expect(abs(read - frequency) < 0.1)
    #expect(abs(ToneMeter.level(of: frequency, in: tone, sampleRate: sampleRate) - 0.5) < 0.01)
    #expect(ToneMeter.level(of: frequency * 1.5, in: tone, sampleRate: sampleRate) < 0.01)
  }

  @Test("a beep's beginning is found to half a millisecond, over a quiet tone and whatever the stretches are")
  func onsets() {
    let sampleRate = 16_000
    var samples = SineTone.samples(frequency: 440, level: 0.01, sampleRate: sampleRate, count: 3 * sampleRate)
    let beginnings = [0.25, 1.0001, 2.3337]
    for beginning in beginnings {
      let first = Int(beginning * Double(sampleRate))
      let beep = SineTone.samples(frequency: 1000, level: 0.25, sampleRate: sampleRate, count: sampleRate / 10)
      for (index, sample) in beep.enumerated() { samples[first + index] += sample }
    }
    for length in [320, 321, 1000] {
      var detector = BeepDetector(level: 0.25, sampleRate: sampleRate)
      for start in stride(from: 0, to: samples.count, by: length) {
        let stretch = Array(samples[start..<min(start + length, samples.count)])
        detector.take(stretch, at: 5 + Double(start) / Double(sampleRate))
      }
      #expect(detector.onsets.count == beginnings.count)
      for (onset, beginning) in zip(detector.onsets, beginnings) { #expect(abs(onset - 5 - beginning) < 0.0005) }
    }
  }

  @Test("a beep's beginning is not made up by a hole in the sound")
  func hole() {
    let beep = SineTone.samples(frequency: 1000, level: 0.25, sampleRate: 16_000, count: 1600)
    var detector = BeepDetector(level: 0.25, sampleRate: 16_000)
    detector.take(Array(repeating: 0, count: 1600), at: 0)
    detector.take(beep, at: 0.1)
    detector.take(Array(repeating: 0, count: 1600), at: 0.5)
    #expect(detector.onsets.count == 1)
  }
}
