import Foundation
import TestSupport
import Testing

@testable import MediaEngine

@Suite("Coding sound for files")
struct AudioEncoderTests {
  @Test(
    "Packets follow each other without gaps, from the priming to the last frame",
    arguments: AudioEncoder.Codec.allCases, [16_000, 44_100, 48_000])
  func packets(_ codec: AudioEncoder.Codec, _ rate: Int) throws {
    let encoder = try AudioEncoder(codec, PCMFormat(sampleRate: rate, channels: 2))
    let tone = SineTone.samples(frequency: 1000, sampleRate: rate, count: rate + 17)
    var packets: [AudioEncoder.EncodedPacket] = []
    for start in stride(from: 0, to: tone.count, by: rate / 50) {
      let part = Array(tone[start..<min(tone.count, start + rate / 50)])
      packets += try encoder.encode(SineTone.interleaved([part, part]))
    }
    packets += try encoder.finish()
    expectCause(.finished) { try encoder.encode([]) }
    #expect(encoder.output.sampleRate == (codec == .opus ? 48_000 : codec == .aac && rate == 16_000 ? 32_000 : rate))
    #expect(encoder.output.duration(frames: encoder.packetFrames) <= .milliseconds(32))
    #expect(packets.first?.start == -encoder.priming)
    for (earlier, later) in zip(packets, packets.dropFirst()) { #expect(later.start == earlier.start + earlier.frames) }
    let last = try #require(packets.last)
    let expected = Int((Double(tone.count) * Double(encoder.output.sampleRate) / Double(rate)).rounded())
    #expect(last.start + last.frames == expected)
    #expect(packets.allSatisfy { !$0.bytes.isEmpty })
  }

  @Test("Forms that no file holds are refused")
  func refusals() {
    expectCause(.audioFormatNotSupported) { try AudioEncoder(.aac, PCMFormat(sampleRate: 48_000, channels: 3)) }
    expectCause(.audioFormatNotSupported) { try AudioEncoder(.flac, PCMFormat(sampleRate: 0, channels: 1)) }
  }

  @Test(
    "A rate that AAC does not know, or at which its packets would be long, is resampled",
    arguments: [(37_800, 48_000), (8000, 32_000), (11_025, 44_100), (24_000, 48_000), (44_100, 44_100)])
  func otherRates(_ rate: Int, _ expected: Int) throws {
    #expect(try AudioEncoder(.aac, PCMFormat(sampleRate: rate, channels: 1)).output.sampleRate == expected)
  }
}
