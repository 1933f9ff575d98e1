import Foundation
import MWDATCamera
import TestSupport
import Testing

@Suite("Changing the rate of sound")
struct RateConversionTests {
  @Test(
    "A change of rate keeps length, place and pitch",
    arguments: [
      (44_100.0, 16_000.0), (48_000, 16_000), (16_000, 48_000), (48_000, 44_100), (44_100, 48_000), (8_000, 44_100),
    ])
  func rates(from: Double, to: Double) throws {
    let input = try format(.pcmFormatInt16, rate: from, channels: 2, interleaved: true)
    let output = try format(rate: to, channels: 2)
    let seconds = 3
    let left = SineTone.samples(frequency: 1000, level: 0.5, sampleRate: Int(from), count: seconds * Int(from))
    let right = SineTone.samples(frequency: 440, level: 0.25, sampleRate: Int(from), count: seconds * Int(from))
    let converted = try convert(SineTone.interleaved([left, right]), input, output, step: 960)
    let channels = try #require(converted.floatChannelData)
    let frames = Int(converted.frameLength)
    try #require(abs(frames - seconds * Int(to)) <= 1)
    let sides = (0..<2).map { side in (0..<frames).map { channels[side][$0] } }
    let middle = Int(to) / 2..<frames - Int(to) / 2
    let pitch = try #require(ToneMeter.frequency(of: Array(sides[0][middle]), sampleRate: Int(to)))
    #expect(abs(pitch - 1000) < 0.5)
    #expect(abs(ToneMeter.level(of: 1000, in: Array(sides[0][middle]), sampleRate: Int(to)) - 0.5) < 0.01)
    #expect(ToneMeter.level(of: 1000, in: Array(sides[1][middle]), sampleRate: Int(to)) < 0.001)
    #expect(abs(ToneMeter.level(of: 440, in: Array(sides[1][middle]), sampleRate: Int(to)) - 0.25) < 0.01)
    // Place: the same tone computed at the output's own rate.
    let expected = SineTone.samples(frequency: 1000, level: 0.5, sampleRate: Int(to), count: frames)
    #expect(middle.allSatisfy { abs(sides[0][$0] - expected[$0]) < 0.01 })
  }

  @Test("Without priming as much comes out as went in at once, late by what the filter looks ahead")
  func unprimed() throws {
    let input = try format(rate: 48_000, channels: 1)
    let output = try format(rate: 16_000, channels: 1)
    let converter = try #require(AVAudioConverter(from: input, to: output))
    converter.primeMethod = .none
    let tone = SineTone.samples(frequency: 1000, level: 0.5, sampleRate: 48_000, count: 48_000)
    var total = 0
    var heard: [Float] = []
    for start in Swift.stride(from: 0, to: 48_000, by: 960) {
      var pending = AVAudioPCMBuffer(format: input, interleaved: Array(tone[start..<start + 960]))
      let buffer = try buffer(output, frames: 4000)
      let status = converter.convert(to: buffer, error: nil) { _, status in
        status.pointee = pending == nil ? .noDataNow : .haveData
        defer { pending = nil }
        return pending
      }
      #expect(status == .inputRanDry)
      total += 320
      heard += try #require(buffer.interleavedSamples)
      #expect(abs(heard.count - total) <= 1)
    }
    let first = try #require(heard.firstIndex { abs($0) > 0.1 })
    #expect((1...200).contains(first))
  }

  // MARK: Helpers

  private func format(
    _ common: AVAudioCommonFormat = .pcmFormatFloat32, rate: Double = 48_000, channels: AVAudioChannelCount,
    interleaved: Bool = false
  ) throws -> AVAudioFormat {
    try #require(AVAudioFormat(commonFormat: common, sampleRate: rate, channels: channels, interleaved: interleaved))
  }

  private func buffer(_ format: AVAudioFormat, frames: AVAudioFrameCount) throws -> AVAudioPCMBuffer {
    let buffer = try #require(AVAudioPCMBuffer(pcmFormat: format, frameCapacity: frames))
    buffer.frameLength = frames
    return buffer
  }

  /// Everything in, everything out.
  private func convert(
    _ samples: [Float], _ input: AVAudioFormat, _ output: AVAudioFormat, step: Int
  ) throws -> AVAudioPCMBuffer {
    let standard = try format(rate: input.sampleRate, channels: input.channelCount)
    let whole = try #require(AVAudioPCMBuffer(format: standard, interleaved: samples))
    let source = try buffer(input, frames: whole.frameLength)
    try #require(AVAudioConverter(from: standard, to: input)).convert(to: source, from: whole)
    let converter = try #require(AVAudioConverter(from: input, to: output))
    let channels = Int(input.channelCount)
    var position = 0
    let result = try buffer(
      output, frames: AVAudioFrameCount(Double(whole.frameLength) * output.sampleRate / input.sampleRate) + 100)
    let status = converter.convert(to: result, error: nil) { _, status in
      let frames = min(step, Int(source.frameLength) - position)
      guard frames > 0, let part = try? buffer(input, frames: AVAudioFrameCount(frames)),
        let from = source.int16ChannelData, let to = part.int16ChannelData
      else {
        status.pointee = .endOfStream
        return nil
      }
      to[0].update(from: from[0] + position * channels, count: frames * channels)
      position += frames
      status.pointee = .haveData
      return part
    }
    #expect(status == .haveData)
    return result
  }
}
