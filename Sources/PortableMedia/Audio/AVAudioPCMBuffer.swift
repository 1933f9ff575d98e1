/// Uncompressed sound in memory.
public final class AVAudioPCMBuffer: AVAudioBuffer {
  /// Frames that there is room for.
  public let frameCapacity: AVAudioFrameCount
  /// Frames in use: 0 in a new buffer. A value beyond the capacity becomes the capacity.
  public var frameLength: AVAudioFrameCount {
    get { length }
    set {
      length = min(newValue, frameCapacity)
      memory.use(bytes: length &* format.streamDescription.pointee.mBytesPerFrame)
    }
  }

  private var length: AVAudioFrameCount = 0

  /// A buffer for so many frames, silent until written.
  ///
  /// Nil for a format that isn't uncompressed, for no frames, for more bytes a buffer than 32 bits can count, and if
  /// there is no memory.
  public init?(pcmFormat format: AVAudioFormat, frameCapacity: AVAudioFrameCount) {
    guard let memory = PCMMemory(format: format, capacity: frameCapacity) else { return nil }
    self.frameCapacity = frameCapacity
    super.init(format: format, memory: memory)
    memory.use(bytes: 0)
  }

  /// From one sample of a channel to its next: the number of channels if interleaved, else 1.
  public var stride: Int { format.isInterleaved ? Int(format.channelCount) : 1 }

  /// Where each channel begins, ``stride`` apart from sample to sample. Nil unless samples are 32-bit floating point.
  public var floatChannelData: UnsafePointer<UnsafeMutablePointer<Float>>? {
    format.commonFormat == .pcmFormatFloat32 ? memory.channelTable(Float.self) : nil
  }
  /// Where each channel begins, ``stride`` apart from sample to sample. Nil unless samples are 16-bit integers.
  public var int16ChannelData: UnsafePointer<UnsafeMutablePointer<Int16>>? {
    format.commonFormat == .pcmFormatInt16 ? memory.channelTable(Int16.self) : nil
  }
  /// Where each channel begins, ``stride`` apart from sample to sample. Nil unless samples are 32-bit integers.
  public var int32ChannelData: UnsafePointer<UnsafeMutablePointer<Int32>>? {
    format.commonFormat == .pcmFormatInt32 ? memory.channelTable(Int32.self) : nil
  }

  /// A buffer of the same capacity and length with a copy of the samples; this buffer itself if there is no memory.
  public override func copy() -> Any {
    guard let other = AVAudioPCMBuffer(pcmFormat: format, frameCapacity: frameCapacity) else { return self }
    other.frameLength = frameLength
    let bytes = Int(frameLength) * Int(format.streamDescription.pointee.mBytesPerFrame)
    for (from, to) in zip(memory.planes, other.memory.planes) { to.copyMemory(from: from, byteCount: bytes) }
    return other
  }
}
