import PortableMedia
import Testing

@Suite("Audio formats")
struct AudioFormatTests {
  @Test("The standard format is 32-bit floating point, not interleaved", arguments: [1, 2] as [AVAudioChannelCount])
  func standard(channels: AVAudioChannelCount) throws {
    let format = try #require(AVAudioFormat(standardFormatWithSampleRate: 16_000, channels: channels))
    #expect(format.isStandard)
    #expect(!format.isInterleaved)
    #expect(format.commonFormat == .pcmFormatFloat32)
    #expect(format.sampleRate == 16_000)
    #expect(format.channelCount == channels)
    let description = format.streamDescription.pointee
    #expect(description.mFormatID == kAudioFormatLinearPCM)
    #expect(
      description.mFormatFlags
        == kAudioFormatFlagIsFloat | kAudioFormatFlagIsPacked | kAudioFormatFlagIsNonInterleaved)
    #expect(description.mBytesPerFrame == 4)
    #expect(description.mBytesPerPacket == 4)
    #expect(description.mFramesPerPacket == 1)
    #expect(description.mBitsPerChannel == 32)
    #expect(description.mChannelsPerFrame == channels)
  }

  @Test(
    "A common format is read back from its own description",
    arguments: [
      AVAudioCommonFormat.pcmFormatFloat32, .pcmFormatFloat64, .pcmFormatInt16, .pcmFormatInt32,
    ], [true, false])
  func roundTrip(common: AVAudioCommonFormat, interleaved: Bool) throws {
    let format = try #require(
      AVAudioFormat(commonFormat: common, sampleRate: 44_100, channels: 2, interleaved: interleaved))
    #expect(format.commonFormat == common)
    #expect(format.isInterleaved == interleaved)
    let same = try #require(AVAudioFormat(streamDescription: format.streamDescription))
    #expect(same == format)
    #expect(same.hashValue == format.hashValue)
    #expect(same.isEqual(format))
  }

  @Test("Interleaved frames hold all channels, others one")
  func bytesPerFrame() throws {
    let interleaved = try #require(
      AVAudioFormat(commonFormat: .pcmFormatInt16, sampleRate: 48_000, channels: 2, interleaved: true))
    let apart = try #require(
      AVAudioFormat(commonFormat: .pcmFormatInt16, sampleRate: 48_000, channels: 2, interleaved: false))
    #expect(interleaved.streamDescription.pointee.mBytesPerFrame == 4)
    #expect(apart.streamDescription.pointee.mBytesPerFrame == 2)
    #expect(interleaved != apart)
  }

  @Test("Interleaving makes no difference for one channel")
  func monoEquality() throws {
    let interleaved = try #require(
      AVAudioFormat(commonFormat: .pcmFormatFloat32, sampleRate: 48_000, channels: 1, interleaved: true))
    let standard = try #require(AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 1))
    #expect(interleaved == standard)
    #expect(interleaved.hashValue == standard.hashValue)
    #expect(standard != AVAudioFormat(standardFormatWithSampleRate: 44_100, channels: 1))
  }

  @Test(
    "There is no format at an absurd rate",
    arguments: [0, -1, .nan, .infinity, -.infinity, 1e12, .leastNonzeroMagnitude * -1])
  func absurdRate(rate: Double) {
    #expect(AVAudioFormat(standardFormatWithSampleRate: rate, channels: 1) == nil)
  }

  @Test("There is no format with no channel or more than two", arguments: [0, 3, .max] as [AVAudioChannelCount])
  func channels(count: AVAudioChannelCount) {
    #expect(AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: count) == nil)
    #expect(
      AVAudioFormat(commonFormat: .pcmFormatInt32, sampleRate: 48_000, channels: count, interleaved: true) == nil)
  }

  @Test("There is no common format by the name of another")
  func other() {
    #expect(AVAudioFormat(commonFormat: .otherFormat, sampleRate: 48_000, channels: 1, interleaved: true) == nil)
  }

  @Test("A description that no common format has is another format")
  func unusual() throws {
    var description = AudioStreamBasicDescription(
      mSampleRate: 48_000, mFormatID: kAudioFormatLinearPCM,
      mFormatFlags: kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsPacked | kAudioFormatFlagIsBigEndian,
      mBytesPerPacket: 2, mFramesPerPacket: 1, mBytesPerFrame: 2, mChannelsPerFrame: 1, mBitsPerChannel: 16,
      mReserved: 0)
    #expect(try #require(AVAudioFormat(streamDescription: &description)).commonFormat == .otherFormat)
    description.mFormatFlags = kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsPacked
    #expect(try #require(AVAudioFormat(streamDescription: &description)).commonFormat == .pcmFormatInt16)
    description.mBytesPerFrame = .max
    #expect(try #require(AVAudioFormat(streamDescription: &description)).commonFormat == .otherFormat)
    description.mBitsPerChannel = 24
    #expect(try #require(AVAudioFormat(streamDescription: &description)).commonFormat == .otherFormat)
  }

  @Test("A format says what it is")
  func text() throws {
    let format = try #require(
      AVAudioFormat(commonFormat: .pcmFormatInt16, sampleRate: 44_100, channels: 2, interleaved: true))
    #expect("\(format)" == "2 ch, 44100 Hz, Int16, interleaved")
    let half = try #require(AVAudioFormat(standardFormatWithSampleRate: 0.5, channels: 1))
    #expect("\(half)" == "1 ch, 0.5 Hz, Float32, deinterleaved")
  }
}
