/// A count of frames; one frame is one sample of each channel.
public typealias AVAudioFrameCount = UInt32
/// A position counted in frames.
public typealias AVAudioFramePosition = Int64
/// A count of channels.
public typealias AVAudioChannelCount = UInt32
/// A count of packets; uncompressed sound has one frame a packet.
public typealias AVAudioPacketCount = UInt32

/// Sample formats in use everywhere, in the byte order of this machine.
public enum AVAudioCommonFormat: UInt, Sendable {
  /// Any other.
  case otherFormat = 0
  /// 32-bit floating point, full scale ±1.
  case pcmFormatFloat32 = 1
  /// 64-bit floating point, full scale ±1.
  case pcmFormatFloat64 = 2
  /// 16-bit signed integers.
  case pcmFormatInt16 = 3
  /// 32-bit signed integers.
  case pcmFormatInt32 = 4

  /// Bytes of a sample; 0 for others.
  var bytesPerSample: UInt32 {
    switch self {
    case .otherFormat: 0
    case .pcmFormatInt16: 2
    case .pcmFormatFloat32, .pcmFormatInt32: 4
    case .pcmFormatFloat64: 8
    }
  }

  private var kindFlags: AudioFormatFlags {
    switch self {
    case .otherFormat: 0
    case .pcmFormatInt16, .pcmFormatInt32: kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsPacked
    case .pcmFormatFloat32, .pcmFormatFloat64: kAudioFormatFlagsNativeFloatPacked
    }
  }

  /// The description of sound in this format.
  func description(sampleRate: Double, channels: AVAudioChannelCount, interleaved: Bool) -> AudioStreamBasicDescription
  {
    let bytes = bytesPerSample &* (interleaved ? channels : 1)
    return AudioStreamBasicDescription(
      mSampleRate: sampleRate, mFormatID: kAudioFormatLinearPCM,
      mFormatFlags: kindFlags | (interleaved ? 0 : kAudioFormatFlagIsNonInterleaved), mBytesPerPacket: bytes,
      mFramesPerPacket: 1, mBytesPerFrame: bytes, mChannelsPerFrame: channels, mBitsPerChannel: bytesPerSample * 8,
      mReserved: 0)
  }
}

/// The form of sound in memory: rate, channels, kind of samples, interleaved or not. Immutable; any thread.
///
/// Formats have one or two channels. Each initializer gives nil for other counts, and for a rate that is not a positive
/// number up to 1.536 MHz.
///
/// Unchecked Sendable for the description's address alone, which is a constant, to memory that this object owns and
/// never writes again.
public final class AVAudioFormat: @unchecked Sendable {
  /// The same in the form of a description; valid as long as the format.
  public let streamDescription: UnsafePointer<AudioStreamBasicDescription>
  /// Which of the common formats samples have.
  public let commonFormat: AVAudioCommonFormat

  /// The fastest converters that are sold.
  private static let maximumSampleRate = 1_536_000.0
  /// More need a layout that says where each channel belongs.
  private static let maximumChannels: AVAudioChannelCount = 2

  /// A format by its description.
  public init?(streamDescription asbd: UnsafePointer<AudioStreamBasicDescription>) {
    let description = asbd.pointee
    guard description.mSampleRate > 0, description.mSampleRate <= Self.maximumSampleRate,
      (1...Self.maximumChannels).contains(description.mChannelsPerFrame)
    else { return nil }
    let own = UnsafeMutablePointer<AudioStreamBasicDescription>.allocate(capacity: 1)
    own.initialize(to: description)
    streamDescription = UnsafePointer(own)
    commonFormat = description.commonFormat
  }

  /// The standard format: 32-bit floating point, not interleaved.
  public convenience init?(standardFormatWithSampleRate sampleRate: Double, channels: AVAudioChannelCount) {
    self.init(commonFormat: .pcmFormatFloat32, sampleRate: sampleRate, channels: channels, interleaved: false)
  }

  /// A common format. Nil for ``AVAudioCommonFormat/otherFormat``, too.
  public convenience init?(
    commonFormat format: AVAudioCommonFormat, sampleRate: Double, channels: AVAudioChannelCount, interleaved: Bool
  ) {
    guard format != .otherFormat else { return nil }
    var description = format.description(sampleRate: sampleRate, channels: channels, interleaved: interleaved)
    self.init(streamDescription: &description)
  }

  deinit { streamDescription.deallocate() }

  /// Frames a second.
  public var sampleRate: Double { streamDescription.pointee.mSampleRate }
  /// Channels of a frame.
  public var channelCount: AVAudioChannelCount { streamDescription.pointee.mChannelsPerFrame }
  /// True if all channels share a buffer, sample by sample in turn.
  public var isInterleaved: Bool { streamDescription.pointee.isInterleaved }
  /// True for the standard format: 32-bit floating point, not interleaved.
  public var isStandard: Bool { commonFormat == .pcmFormatFloat32 && !isInterleaved }
}

extension AVAudioFormat: Hashable {
  /// What counts when formats are compared. One channel lies in memory in the same way, interleaved or not.
  private var meaning: AudioStreamBasicDescription {
    var meaning = streamDescription.pointee
    if commonFormat != .otherFormat, meaning.mChannelsPerFrame == 1 {
      meaning.mFormatFlags &= ~kAudioFormatFlagIsNonInterleaved
    }
    // Samples of the common formats fill their bytes, said or not.
    if commonFormat != .otherFormat {
      meaning.mFormatFlags |= kAudioFormatFlagIsPacked
      meaning.mFormatFlags &= ~kAudioFormatFlagIsAlignedHigh
    }
    meaning.mReserved = 0
    return meaning
  }

  /// True for formats in which the same bytes mean the same sound. Interleaving is ignored for one channel.
  public static func == (left: AVAudioFormat, right: AVAudioFormat) -> Bool {
    left === right || left.meaning == right.meaning
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(meaning) }

  /// True for an equal format; see `==`.
  public func isEqual(_ object: Any?) -> Bool { (object as? AVAudioFormat).map { $0 == self } ?? false }
}

extension AVAudioFormat: CustomStringConvertible {
  /// For logs, for example `2 ch, 44100 Hz, Int16, interleaved`.
  public var description: String {
    let kind =
      switch commonFormat {
      case .otherFormat: "'\(characters(of: streamDescription.pointee.mFormatID))'"
      case .pcmFormatFloat32: "Float32"
      case .pcmFormatFloat64: "Float64"
      case .pcmFormatInt16: "Int16"
      case .pcmFormatInt32: "Int32"
      }
    let rate = Int(exactly: sampleRate).map(String.init) ?? String(sampleRate)
    return "\(channelCount) ch, \(rate) Hz, \(kind), \(isInterleaved ? "interleaved" : "deinterleaved")"
  }
}
