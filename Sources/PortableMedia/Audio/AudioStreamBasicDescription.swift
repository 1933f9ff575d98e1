/// How sound is coded.
public typealias AudioFormatID = UInt32
/// Details of how sound is coded, bit by bit.
public typealias AudioFormatFlags = UInt32

/// Uncompressed samples; the flags say which.
public let kAudioFormatLinearPCM: AudioFormatID = code("lpcm")

/// Samples are floating point.
public let kAudioFormatFlagIsFloat: AudioFormatFlags = 1 << 0
/// Samples have their most significant byte first.
public let kAudioFormatFlagIsBigEndian: AudioFormatFlags = 1 << 1
/// Samples are signed integers.
public let kAudioFormatFlagIsSignedInteger: AudioFormatFlags = 1 << 2
/// The bits of a sample fill all its bytes.
public let kAudioFormatFlagIsPacked: AudioFormatFlags = 1 << 3
/// The bits of a sample are the upper ones of its bytes.
public let kAudioFormatFlagIsAlignedHigh: AudioFormatFlags = 1 << 4
/// Each channel has a buffer of its own; sizes in the description are those of one channel.
public let kAudioFormatFlagIsNonInterleaved: AudioFormatFlags = 1 << 5
/// The byte order of this machine, which is little-endian.
public let kAudioFormatFlagsNativeEndian: AudioFormatFlags = 0
/// Floating point that fills its bytes, in this machine's order.
public let kAudioFormatFlagsNativeFloatPacked: AudioFormatFlags =
  kAudioFormatFlagIsFloat | kAudioFormatFlagsNativeEndian | kAudioFormatFlagIsPacked

/// Samples are floating point.
public let kLinearPCMFormatFlagIsFloat = kAudioFormatFlagIsFloat
/// Samples have their most significant byte first.
public let kLinearPCMFormatFlagIsBigEndian = kAudioFormatFlagIsBigEndian
/// Samples are signed integers.
public let kLinearPCMFormatFlagIsSignedInteger = kAudioFormatFlagIsSignedInteger
/// The bits of a sample fill all its bytes.
public let kLinearPCMFormatFlagIsPacked = kAudioFormatFlagIsPacked
/// Each channel has a buffer of its own.
public let kLinearPCMFormatFlagIsNonInterleaved = kAudioFormatFlagIsNonInterleaved

/// The form of sound in memory. One frame is one sample of each channel; uncompressed sound has one frame a packet.
public struct AudioStreamBasicDescription: Hashable, Sendable {
  /// Frames a second.
  public var mSampleRate: Float64
  /// How samples are coded.
  public var mFormatID: AudioFormatID
  /// Details of the coding.
  public var mFormatFlags: AudioFormatFlags
  /// Bytes of a packet, 0 if they differ.
  public var mBytesPerPacket: UInt32
  /// Frames of a packet, 0 if they differ.
  public var mFramesPerPacket: UInt32
  /// Bytes of a frame in one buffer: of all channels where they are interleaved, else of one.
  public var mBytesPerFrame: UInt32
  /// Channels of a frame.
  public var mChannelsPerFrame: UInt32
  /// Bits of one sample.
  public var mBitsPerChannel: UInt32
  /// Zero.
  public var mReserved: UInt32

  /// A description by its fields.
  public init(
    mSampleRate: Float64, mFormatID: AudioFormatID, mFormatFlags: AudioFormatFlags, mBytesPerPacket: UInt32,
    mFramesPerPacket: UInt32, mBytesPerFrame: UInt32, mChannelsPerFrame: UInt32, mBitsPerChannel: UInt32,
    mReserved: UInt32
  ) {
    self.mSampleRate = mSampleRate
    self.mFormatID = mFormatID
    self.mFormatFlags = mFormatFlags
    self.mBytesPerPacket = mBytesPerPacket
    self.mFramesPerPacket = mFramesPerPacket
    self.mBytesPerFrame = mBytesPerFrame
    self.mChannelsPerFrame = mChannelsPerFrame
    self.mBitsPerChannel = mBitsPerChannel
    self.mReserved = mReserved
  }

  /// All fields zero, to be filled in.
  public init() {
    self.init(
      mSampleRate: 0, mFormatID: 0, mFormatFlags: 0, mBytesPerPacket: 0, mFramesPerPacket: 0, mBytesPerFrame: 0,
      mChannelsPerFrame: 0, mBitsPerChannel: 0, mReserved: 0)
  }

  func has(_ flag: AudioFormatFlags) -> Bool { mFormatFlags & flag != 0 }

  var isInterleaved: Bool { !has(kAudioFormatFlagIsNonInterleaved) }

  /// Which of the common formats this is.
  var commonFormat: AVAudioCommonFormat {
    guard mFormatID == kAudioFormatLinearPCM, mFramesPerPacket == 1, mBytesPerPacket == mBytesPerFrame,
      !has(kAudioFormatFlagIsBigEndian)
    else { return .otherFormat }
    let found: AVAudioCommonFormat =
      switch (has(kAudioFormatFlagIsFloat), has(kAudioFormatFlagIsSignedInteger), mBitsPerChannel) {
      case (true, _, 32): .pcmFormatFloat32
      case (true, _, 64): .pcmFormatFloat64
      case (false, true, 16): .pcmFormatInt16
      case (false, true, 32): .pcmFormatInt32
      default: .otherFormat
      }
    let samples = isInterleaved ? mChannelsPerFrame : 1
    let (bytes, overflow) = samples.multipliedReportingOverflow(by: mBitsPerChannel / 8)
    return !overflow && bytes == mBytesPerFrame ? found : .otherFormat
  }
}
