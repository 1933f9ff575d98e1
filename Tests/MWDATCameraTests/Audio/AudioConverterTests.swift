import Foundation
import MWDATCamera
import TestSupport
import Testing

@Suite("The audio converter")
struct AudioConverterTests {
  // MARK: Without a change of rate

  @Test(
    "Samples of 16 bits survive any form that has room for them, bit for bit",
    arguments: [AVAudioCommonFormat.pcmFormatFloat32, .pcmFormatFloat64, .pcmFormatInt32, .pcmFormatInt16],
    [true, false])
  func roundTrip(common: AVAudioCommonFormat, interleaved: Bool) throws {
    let short = try format(.pcmFormatInt16, channels: 2, interleaved: true)
    let other = try format(common, channels: 2, interleaved: interleaved)
    let input = try buffer(short, frames: 4)
    let samples: [Int16] = [.min, .max, 0, -1, 1, 12_345, -12_345, 256]
    for (index, sample) in samples.enumerated() { try #require(input.int16ChannelData)[0][index] = sample }
    let between = try buffer(other, frames: 4)
    try #require(AVAudioConverter(from: short, to: other)).convert(to: between, from: input)
    #expect(between.frameLength == 4)
    let output = try buffer(short, frames: 4)
    try #require(AVAudioConverter(from: other, to: short)).convert(to: output, from: between)
    #expect((0..<8).map { output.int16ChannelData?[0][$0] } == samples)
  }

  @Test("Samples of 32 bits are not squeezed through narrower ones")
  func wideIntegers() throws {
    let from = try format(.pcmFormatInt32, channels: 1, interleaved: true)
    let to = try format(.pcmFormatInt32, channels: 2, interleaved: false)
    let input = try buffer(from, frames: 3)
    let samples: [Int32] = [.max, .min, 0x1234_5677]
    for (index, sample) in samples.enumerated() { try #require(input.int32ChannelData)[0][index] = sample }
    let output = try buffer(to, frames: 3)
    try #require(AVAudioConverter(from: from, to: to)).convert(to: output, from: input)
    for channel in 0..<2 { #expect((0..<3).map { output.int32ChannelData?[channel][$0] } == samples) }
  }

  @Test("Beyond full scale integers stay at their ends, and what is no number is silence")
  func clipping() throws {
    let from = try format(channels: 1)
    let to = try format(.pcmFormatInt16, channels: 1)
    let input = try #require(
      AVAudioPCMBuffer(format: from, interleaved: [2, -2, 1, -1, .nan, .infinity, -.infinity, 0.5 / 32768]))
    let output = try buffer(to, frames: 8)
    try #require(AVAudioConverter(from: from, to: to)).convert(to: output, from: input)
    let expected: [Int16] = [32767, -32768, 32767, -32768, 0, 32767, -32768, 1]
    #expect((0..<8).map { output.int16ChannelData?[0][$0] } == expected)
  }

  @Test("One channel goes to both; of two the first is taken, or both are mixed when asked, or what the map says")
  func channels() throws {
    let mono = try format(channels: 1)
    let stereo = try format(channels: 2)
    let doubled = try buffer(stereo, frames: 1)
    try #require(AVAudioConverter(from: mono, to: stereo)).convert(
      to: doubled, from: #require(AVAudioPCMBuffer(format: mono, interleaved: [0.5])))
    #expect(doubled.interleavedSamples == [0.5, 0.5])

    let sides = try #require(AVAudioPCMBuffer(format: stereo, interleaved: [0.5, -0.25]))
    let converter = try #require(AVAudioConverter(from: stereo, to: mono))
    let single = try buffer(mono, frames: 1)
    try converter.convert(to: single, from: sides)
    #expect(single.interleavedSamples == [0.5])
    converter.channelMap = [1]
    try converter.convert(to: single, from: sides)
    #expect(single.interleavedSamples == [-0.25])
    converter.channelMap = [-1]
    try converter.convert(to: single, from: sides)
    #expect(single.interleavedSamples == [0])
    converter.channelMap = [7]
    converter.channelMap = []
    #expect(converter.channelMap == [-1])
    converter.downmix = true
    try converter.convert(to: single, from: sides)
    #expect(single.interleavedSamples == [0])
    converter.channelMap = [1]
    try converter.convert(to: single, from: sides)
    #expect(single.interleavedSamples == [0.125])

    let swap = try #require(AVAudioConverter(from: stereo, to: stereo))
    swap.channelMap = [1, 0]
    let swapped = try buffer(stereo, frames: 1)
    try swap.convert(to: swapped, from: sides)
    #expect(swapped.interleavedSamples == [-0.25, 0.5])
  }

  @Test("A whole buffer is not converted into another rate, another format or too little room; the output is empty")
  func refusals() throws {
    let stereo = try format(channels: 2)
    let mono = try format(channels: 1)
    let faster = try format(rate: 44_100, channels: 2)
    let input = try #require(AVAudioPCMBuffer(format: stereo, interleaved: [1, 2, 3, 4]))
    let rate = try #require(AVAudioConverter(from: stereo, to: faster))
    #expect(code { try rate.convert(to: buffer(faster, frames: 10), from: input) } == -50)
    let same = try #require(AVAudioConverter(from: stereo, to: mono))
    #expect(code { try same.convert(to: buffer(stereo, frames: 10), from: input) } == -50)
    #expect(
      code {
        try same.convert(to: buffer(mono, frames: 1), from: #require(AVAudioPCMBuffer(format: mono, interleaved: [1])))
      }
        == -50)
    let small = try buffer(mono, frames: 1)
    small.frameLength = 1
    #expect(code { try same.convert(to: small, from: input) } == 0x6F74_737A)
    #expect(small.frameLength == 0)
  }

  @Test("There is no converter for formats that aren't common, nor for rates that no filter takes")
  func impossible() throws {
    let standard = try format(channels: 1)
    var description = standard.streamDescription.pointee
    description.mFormatFlags |= kAudioFormatFlagIsBigEndian
    let bigEndian = try #require(AVAudioFormat(streamDescription: &description))
    #expect(AVAudioConverter(from: bigEndian, to: standard) == nil)
    #expect(AVAudioConverter(from: standard, to: bigEndian) == nil)
    #expect(AVAudioConverter(from: standard, to: try format(rate: 0.5, channels: 1)) == nil)
    #expect(AVAudioConverter(from: standard, to: try format(rate: 1, channels: 1)) == nil)
    #expect(AVAudioConverter(from: try format(rate: 0.5, channels: 1), to: try format(rate: 0.5, channels: 1)) != nil)
  }

  // MARK: With input asked for

  @Test("A block is asked until the output is full, and what is left stays for the next")
  func filling() throws {
    let mono = try format(channels: 1)
    let converter = try #require(AVAudioConverter(from: mono, to: mono))
    var given = 0
    let block: AVAudioConverterInputBlock = { _, status in
      status.pointee = .haveData
      given += 1
      return AVAudioPCMBuffer(format: mono, interleaved: [Float](repeating: Float(given), count: 4))
    }
    let output = try buffer(mono, frames: 6)
    #expect(converter.convert(to: output, error: nil, withInputFrom: block) == .haveData)
    #expect(output.interleavedSamples == [1, 1, 1, 1, 2, 2])
    #expect(converter.convert(to: output, error: nil, withInputFrom: block) == .haveData)
    #expect(output.interleavedSamples == [2, 2, 3, 3, 3, 3])
    #expect(given == 3)
    converter.reset()
    #expect(converter.convert(to: output, error: nil, withInputFrom: block) == .haveData)
    #expect(output.interleavedSamples == [4, 4, 4, 4, 5, 5])
  }

  @Test("Dry input gives what there was; the end gives the rest, then nothing until a reset")
  func drying() throws {
    let mono = try format(channels: 1)
    let converter = try #require(AVAudioConverter(from: mono, to: mono))
    var statuses: [AVAudioConverterInputStatus] = [.haveData, .noDataNow, .haveData, .endOfStream]
    let block: AVAudioConverterInputBlock = { _, status in
      status.pointee = statuses.isEmpty ? .endOfStream : statuses.removeFirst()
      return status.pointee == .haveData ? AVAudioPCMBuffer(format: mono, interleaved: [1, 2]) : nil
    }
    let output = try buffer(mono, frames: 6)
    #expect(converter.convert(to: output, error: nil, withInputFrom: block) == .inputRanDry)
    #expect(output.interleavedSamples == [1, 2])
    #expect(converter.convert(to: output, error: nil, withInputFrom: block) == .haveData)
    #expect(output.interleavedSamples == [1, 2])
    #expect(converter.convert(to: output, error: nil, withInputFrom: block) == .endOfStream)
    #expect(output.frameLength == 0)
    statuses = [.haveData]
    #expect(converter.convert(to: output, error: nil, withInputFrom: block) == .endOfStream)
    converter.reset()
    #expect(converter.convert(to: output, error: nil, withInputFrom: block) == .haveData)
    #expect(output.interleavedSamples == [1, 2])
  }

  @Test("A block that promises and gives nothing, or gives another format, makes no endless loop")
  func brokenBlocks() throws {
    let mono = try format(channels: 1)
    let converter = try #require(AVAudioConverter(from: mono, to: mono))
    let output = try buffer(mono, frames: 6)
    #expect(converter.convert(to: output, error: nil) { _, _ in nil } == .inputRanDry)
    let empty = try buffer(mono, frames: 1)
    empty.frameLength = 0
    #expect(converter.convert(to: output, error: nil) { _, _ in empty } == .inputRanDry)
    var error: NSError?
    let foreign = try buffer(format(channels: 2), frames: 1)
    #expect(converter.convert(to: output, error: &error) { _, _ in foreign } == .error)
    #expect(error?.code == -50 && error?.domain == "NSOSStatusErrorDomain")
    #expect(converter.convert(to: output, error: &error) { _, _ in nil } == .inputRanDry)
    #expect(error == nil)
    #expect(converter.convert(to: foreign, error: &error) { _, _ in nil } == .error)
    #expect(error?.code == -50)
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

  private func code(_ work: () throws -> Void) -> Int? {
    do {
      try work()
      return nil
    } catch {
      return (error as NSError).code
    }
  }
}
