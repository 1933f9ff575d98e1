import PortableMedia
import TestSupport
import Testing

@Suite("PCM buffers")
struct PCMBufferTests {
  private func format(
    _ common: AVAudioCommonFormat = .pcmFormatFloat32, channels: AVAudioChannelCount = 2, interleaved: Bool = false
  ) throws -> AVAudioFormat {
    try #require(
      AVAudioFormat(commonFormat: common, sampleRate: 48_000, channels: channels, interleaved: interleaved))
  }

  @Test("A new buffer is empty, silent and as large as asked")
  func new() throws {
    let buffer = try #require(AVAudioPCMBuffer(pcmFormat: format(), frameCapacity: 960))
    #expect(buffer.frameCapacity == 960)
    #expect(buffer.frameLength == 0)
    #expect(buffer.format == (try format()))
    let channels = try #require(buffer.floatChannelData)
    for channel in 0..<2 { #expect((0..<960).allSatisfy { channels[channel][$0] == 0 }) }
  }

  @Test("The length never exceeds the capacity")
  func length() throws {
    let buffer = try #require(AVAudioPCMBuffer(pcmFormat: format(), frameCapacity: 10))
    buffer.frameLength = 11
    #expect(buffer.frameLength == 10)
    buffer.frameLength = .max
    #expect(buffer.frameLength == 10)
    buffer.frameLength = 3
    #expect(buffer.frameLength == 3)
  }

  @Test("The buffer list says how much is used, the mutable one how much fits")
  func bufferLists() throws {
    let buffer = try #require(AVAudioPCMBuffer(pcmFormat: format(.pcmFormatInt16), frameCapacity: 100))
    buffer.frameLength = 40
    let list = buffer.audioBufferList
    #expect(list.pointee.mNumberBuffers == 2)
    #expect(list.pointee.mBuffers.mDataByteSize == 80)
    #expect(list.pointee.mBuffers.mNumberChannels == 1)
    let whole = UnsafeMutableAudioBufferListPointer(buffer.mutableAudioBufferList)
    #expect(whole.map(\.mDataByteSize) == [200, 200])
    let channels = try #require(buffer.int16ChannelData)
    #expect(whole[0].mData == UnsafeMutableRawPointer(channels[0]))
    #expect(whole[1].mData == UnsafeMutableRawPointer(channels[1]))
    let used = UnsafeMutableAudioBufferListPointer(UnsafeMutablePointer(mutating: list))
    #expect(used.map(\.mDataByteSize) == [80, 80])
    #expect(UnsafeBufferPointer<Int16>(used[1]).count == 40)
  }

  @Test("Interleaved channels lie in one buffer, a frame apart")
  func interleaved() throws {
    let buffer = try #require(AVAudioPCMBuffer(pcmFormat: format(interleaved: true), frameCapacity: 3))
    buffer.frameLength = 3
    #expect(buffer.stride == 2)
    let channels = try #require(buffer.floatChannelData)
    for frame in 0..<3 {
      channels[0][frame * buffer.stride] = Float(frame)
      channels[1][frame * buffer.stride] = Float(-frame)
    }
    let list = UnsafeMutableAudioBufferListPointer(buffer.mutableAudioBufferList)
    #expect(list.count == 1)
    #expect(list[0].mNumberChannels == 2)
    #expect(Array(UnsafeBufferPointer<Float>(list[0])) == [0, 0, 1, -1, 2, -2])
  }

  @Test("Samples are reached by the kind that they have, and no other")
  func kinds() throws {
    let floats = try #require(AVAudioPCMBuffer(pcmFormat: format(.pcmFormatFloat32), frameCapacity: 1))
    #expect(floats.floatChannelData != nil && floats.int16ChannelData == nil && floats.int32ChannelData == nil)
    let short = try #require(AVAudioPCMBuffer(pcmFormat: format(.pcmFormatInt16), frameCapacity: 1))
    #expect(short.floatChannelData == nil && short.int16ChannelData != nil && short.int32ChannelData == nil)
    let long = try #require(AVAudioPCMBuffer(pcmFormat: format(.pcmFormatInt32), frameCapacity: 1))
    #expect(long.floatChannelData == nil && long.int16ChannelData == nil && long.int32ChannelData != nil)
    let double = try #require(AVAudioPCMBuffer(pcmFormat: format(.pcmFormatFloat64), frameCapacity: 1))
    #expect(double.floatChannelData == nil && double.int16ChannelData == nil && double.int32ChannelData == nil)
  }

  @Test("There is no buffer for no frames, nor for more bytes than can be counted")
  func impossible() throws {
    #expect(try AVAudioPCMBuffer(pcmFormat: format(), frameCapacity: 0) == nil)
    #expect(try AVAudioPCMBuffer(pcmFormat: format(), frameCapacity: .max) == nil)
    #expect(
      try AVAudioPCMBuffer(pcmFormat: format(.pcmFormatFloat64, interleaved: true), frameCapacity: 1 << 28) == nil)
  }

  @Test(
    "A large buffer costs nothing before it is written",
    .disabled(if: ThreadSanitizer.isOn, "the thread sanitizer writes all of it"))
  func large() throws {
    let buffer = try #require(AVAudioPCMBuffer(pcmFormat: format(), frameCapacity: (1 << 30) - 1))
    buffer.frameLength = buffer.frameCapacity
    #expect(buffer.audioBufferList.pointee.mBuffers.mDataByteSize == UInt32.max - 3)
  }

  @Test("There is no PCM buffer of what is not PCM")
  func compressed() throws {
    var description = AudioStreamBasicDescription()
    description.mSampleRate = 48_000
    description.mFormatID = 0x6161_6320  // 'aac '
    description.mChannelsPerFrame = 2
    let format = try #require(AVAudioFormat(streamDescription: &description))
    #expect(AVAudioPCMBuffer(pcmFormat: format, frameCapacity: 10) == nil)
    description.mFormatID = kAudioFormatLinearPCM
    let empty = try #require(AVAudioFormat(streamDescription: &description))
    #expect(AVAudioPCMBuffer(pcmFormat: empty, frameCapacity: 10) == nil)
  }

  @Test("A copy has the samples and none of the memory", arguments: [true, false])
  func copying(interleaved: Bool) throws {
    let buffer = try #require(
      AVAudioPCMBuffer(pcmFormat: format(.pcmFormatInt32, interleaved: interleaved), frameCapacity: 8))
    buffer.frameLength = 5
    let channels = try #require(buffer.int32ChannelData)
    for frame in 0..<5 {
      channels[0][frame * buffer.stride] = Int32(frame)
      channels[1][frame * buffer.stride] = .max - Int32(frame)
    }
    let copy = try #require(buffer.copy() as? AVAudioPCMBuffer)
    #expect(copy.frameLength == 5 && copy.frameCapacity == 8)
    #expect(copy.interleavedSamples == buffer.interleavedSamples)
    channels[0][0] = 99
    #expect(try #require(copy.int32ChannelData)[0][0] == 0)
  }

  @Test("A buffer made of interleaved samples has each channel in its place")
  func filled() throws {
    let buffer = try #require(AVAudioPCMBuffer(sampleRate: 44_100, channels: 2, interleaved: [1, -1, 0.5, -0.5]))
    #expect(buffer.format.isStandard && buffer.frameLength == 2 && buffer.frameCapacity == 2)
    let channels = try #require(buffer.floatChannelData)
    #expect(channels[0][0] == 1 && channels[0][1] == 0.5 && channels[1][0] == -1 && channels[1][1] == -0.5)
    #expect(buffer.interleavedSamples == [1, -1, 0.5, -0.5])
    let mono = try #require(AVAudioPCMBuffer(format: format(channels: 1), interleaved: [0.25, 0.125]))
    #expect(mono.interleavedSamples == [0.25, 0.125])
  }

  @Test("Samples that make no whole frames make no buffer")
  func unevenSamples() throws {
    #expect(AVAudioPCMBuffer(sampleRate: 44_100, channels: 2, interleaved: [1, 2, 3]) == nil)
    #expect(AVAudioPCMBuffer(sampleRate: 44_100, channels: 1, interleaved: []) == nil)
    #expect(AVAudioPCMBuffer(sampleRate: 0, channels: 1, interleaved: [1]) == nil)
    #expect(AVAudioPCMBuffer(sampleRate: 44_100, channels: -1, interleaved: [1]) == nil)
    #expect(try AVAudioPCMBuffer(format: format(interleaved: true), interleaved: [1, 2]) == nil)
  }

  @Test("Integers read as floating point have full scale at one")
  func integers() throws {
    let buffer = try #require(AVAudioPCMBuffer(pcmFormat: format(.pcmFormatInt16), frameCapacity: 2))
    buffer.frameLength = 2
    let channels = try #require(buffer.int16ChannelData)
    channels[0][0] = .min
    channels[1][0] = 0x4000
    channels[0][1] = .max
    #expect(buffer.interleavedSamples == [-1, 0.5, 32767.0 / 32768, 0])
  }
}
