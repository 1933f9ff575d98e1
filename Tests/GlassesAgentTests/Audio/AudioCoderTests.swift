import Foundation
import LinkProtocol
import MediaEngine
import TestSupport
import Testing
import Units

@testable import GlassesAgent

/// Units of sound as PCM and as Opus, and the change between the two.
@Suite("The coding of sound")
struct AudioCoderTests {
  /// What the units decode to, by when it was captured: each unit's samples at the number of the captured frame.
  private struct Decoded {
    /// Where units begin and end, in captured frames; fractions at 44.1 kHz.
    var spans: [(start: Double, end: Double, codec: AudioCodecID)] = []
    var opus: [Float] = []
    var opusStart: Double?
    var pcm: [Float] = []
  }

  private func decode(_ units: [CodedAudio], _ format: PCMFormat) throws -> Decoded {
    var result = Decoded()
    let decoder = try OpusDecoder(OpusEncoder.format(for: format))
    for unit in units {
      let start = Double(unit.index) - unit.early.seconds * Double(format.sampleRate)
      let frames = Double(unit.frames) * Double(format.sampleRate) / Double(unit.format.sampleRate)
      result.spans.append((start, start + frames, unit.codec))
      switch unit.codec {
      case .pcmFloat32: result.pcm += PCMBytes.samples(unit.payload)
      case .opus:
        result.opusStart = result.opusStart ?? start
        let samples = try decoder.decode(unit.payload)
        let count = unit.frames * format.channels
        result.opus += unit.hasHistory ? samples.suffix(count) : samples.prefix(count)
      }
    }
    return result
  }

  private func tone(_ frames: Int, from first: Int = 0, _ format: PCMFormat) -> [Float] {
    let samples = SineTone.samples(
      frequency: 500, level: 0.5, sampleRate: format.sampleRate, count: frames, from: first)
    return format.channels == 1 ? samples : samples.flatMap { [$0, $0] }
  }

  private static let formats = [
    PCMFormat(sampleRate: 16_000, channels: 1), PCMFormat(sampleRate: 48_000, channels: 2),
    PCMFormat(sampleRate: 44_100, channels: 1),
  ]

  @Test("samples go out as they are")
  func pcm() throws {
    let format = PCMFormat(sampleRate: 48_000, channels: 2)
    var coder = AudioCoder(format: format)
    let samples: [Float] = [0, -0.0, 1, -1, .infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .pi]
    let units = try coder.code(samples, at: 77, as: .pcmFloat32)
    #expect(units.count == 1 && units[0].index == 77 && units[0].frames == 4 && units[0].early == .zero)
    #expect(PCMBytes.samples(units[0].payload).map(\.bitPattern) == samples.map(\.bitPattern))
    #expect(try coder.finish([], at: 81).isEmpty)
  }

  @Test("a change to Opus and back, and the end, leave no gap and send nothing twice", arguments: formats)
  func changes(format: PCMFormat) throws {
    var coder = AudioCoder(format: format)
    var units: [CodedAudio] = []
    let length = format.sampleRate / 50
    let codecs: [AudioCodecID] =
      Array(repeating: .pcmFloat32, count: 10) + Array(repeating: .opus, count: 50)
      + Array(repeating: .pcmFloat32, count: 10) + Array(repeating: .opus, count: 30)
    for (number, codec) in codecs.enumerated() {
      units += try coder.code(tone(length, from: number * length, format), at: number * length, as: codec)
    }
    units += try coder.finish(tone(100, from: 100 * length, format), at: 100 * length)
    let decoded = try decode(units, format)
    for (before, after) in zip(decoded.spans, decoded.spans.dropFirst()) {
      // At 44.1 kHz a change to or from 48 kHz falls between two samples.
      #expect(abs(after.start - before.end) < 1, "\(before) \(after)")
    }
    #expect(decoded.spans.first?.start == 0)
    #expect(abs((decoded.spans.last?.end ?? 0) - Double(100 * length + 100)) < 1)
    #expect(Set(units.map(\.codec)) == [.pcmFloat32, .opus])
    #expect(units.filter { $0.codec == .opus }.allSatisfy { $0.payload.count < ($0.hasHistory ? 800 : 400) })
  }

  @Test("Opus decodes to the sound of the stamps' time", arguments: formats)
  func opus(format: PCMFormat) throws {
    var coder = AudioCoder(format: format)
    let length = format.sampleRate / 50
    var units: [CodedAudio] = []
    for number in 0..<100 {
      units += try coder.code(tone(length, from: number * length, format), at: number * length, as: .opus)
    }
    units += try coder.finish([], at: 100 * length)
    let decoded = try decode(units, format)
    // In the middle, where the codec has found its way: the tone, at its place to a fraction of a sample.
    let start = try #require(decoded.opusStart) / Double(format.sampleRate) + 0.5
    let from = 24_000 * format.channels
    try #require(decoded.opus.count >= 72_000 * format.channels)
    let middle = stride(from: from, to: from + 48_000 * format.channels, by: format.channels).map { decoded.opus[$0] }
    let wanted = (0..<48_000).map { index in
      Float(0.5 * sin(2 * .pi * 500 * (start + Double(index) / 48_000)))
    }
    let error = zip(middle, wanted).map { Double(($0 - $1) * ($0 - $1)) }.reduce(0, +) / 48_000
    #expect(error.squareRoot() < 0.02)
  }
}
