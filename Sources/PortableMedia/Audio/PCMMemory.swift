/// The samples of one buffer, and the tables by which clients reach them. Freed with its buffer.
final class PCMMemory {
  /// Where each buffer of the list begins: one if interleaved, else one a channel.
  let planes: [UnsafeMutableRawPointer]
  /// The list whose sizes say how much is in use.
  let used: UnsafeMutablePointer<AudioBufferList>
  /// The list whose sizes say how much there is room for.
  let whole: UnsafeMutablePointer<AudioBufferList>
  /// Where each channel begins.
  private let channels: UnsafeMutablePointer<UnsafeMutableRawPointer>
  private let base: UnsafeMutableRawPointer

  /// Planes begin where any vector instruction of common use may.
  private static let alignment = 16

  /// Silence. Nil if samples are compressed, there are none, their bytes don't fit 32 bits, or there is no memory.
  init?(format: AVAudioFormat, capacity: AVAudioFrameCount) {
    let description = format.streamDescription.pointee
    guard description.mFormatID == kAudioFormatLinearPCM, description.mBytesPerFrame > 0, capacity > 0 else {
      return nil
    }
    let (bytes, overflow) = capacity.multipliedReportingOverflow(by: description.mBytesPerFrame)
    guard !overflow else { return nil }
    let count = format.isInterleaved ? 1 : Int(format.channelCount)
    let stride = (Int(bytes) + Self.alignment - 1) / Self.alignment * Self.alignment
    guard let base = untouchedMemory(byteCount: stride * count) else { return nil }
    self.base = base
    let planes = (0..<count).map { base + $0 * stride }
    self.planes = planes
    let inPlane = format.isInterleaved ? format.channelCount : 1
    let buffers = planes.map { AudioBuffer(mNumberChannels: inPlane, mDataByteSize: bytes, mData: $0) }
    whole = AudioBufferList.make(buffers)
    used = AudioBufferList.make(buffers)
    channels = .allocate(capacity: Int(format.channelCount))
    let sample = Int(format.commonFormat.bytesPerSample)
    for channel in 0..<Int(format.channelCount) {
      (channels + channel).initialize(to: format.isInterleaved ? base + channel * sample : planes[channel])
    }
  }

  deinit {
    UnsafeMutableRawPointer(used).deallocate()
    UnsafeMutableRawPointer(whole).deallocate()
    channels.deallocate()
    freeMemory(base)
  }

  /// Says how much of each plane is in use.
  func use(bytes: UInt32) {
    let buffers = UnsafeMutableAudioBufferListPointer(used)
    for index in buffers.indices { buffers[index].mDataByteSize = bytes }
  }

  /// The table of channels, as clients get it for one kind of sample. A pointer is a pointer, whatever it points to.
  func channelTable<Sample>(_ sample: Sample.Type) -> UnsafePointer<UnsafeMutablePointer<Sample>> {
    UnsafeRawPointer(channels).assumingMemoryBound(to: UnsafeMutablePointer<Sample>.self)
  }
}
