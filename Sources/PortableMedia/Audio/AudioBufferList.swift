/// Samples of one channel, or of all channels interleaved.
public struct AudioBuffer {
  /// Channels in this buffer.
  public var mNumberChannels: UInt32
  /// Bytes of it that count.
  public var mDataByteSize: UInt32
  /// The samples.
  public var mData: UnsafeMutableRawPointer?

  /// A buffer by its fields.
  public init(mNumberChannels: UInt32, mDataByteSize: UInt32, mData: UnsafeMutableRawPointer?) {
    self.mNumberChannels = mNumberChannels
    self.mDataByteSize = mDataByteSize
    self.mData = mData
  }

  /// No samples.
  public init() { self.init(mNumberChannels: 0, mDataByteSize: 0, mData: nil) }
}

/// The buffers of a stretch of sound: one if channels are interleaved, else one a channel.
///
/// Only the first lies inside this value; the rest follow it in memory. ``UnsafeMutableAudioBufferListPointer`` reaches
/// them all.
public struct AudioBufferList {
  /// How many buffers there are.
  public var mNumberBuffers: UInt32
  /// The first buffer.
  public var mBuffers: AudioBuffer

  /// A list with one buffer.
  public init(mNumberBuffers: UInt32, mBuffers: AudioBuffer) {
    self.mNumberBuffers = mNumberBuffers
    self.mBuffers = mBuffers
  }

  /// An empty list.
  public init() { self.init(mNumberBuffers: 0, mBuffers: AudioBuffer()) }

  /// Where the first buffer lies.
  private static let head = MemoryLayout<AudioBufferList>.offset(of: \.mBuffers) ?? MemoryLayout<AudioBuffer>.alignment

  /// Bytes of a list with room for so many buffers, of which there is always one.
  public static func sizeInBytes(maximumBuffers: Int) -> Int {
    let (buffers, overflow) = max(maximumBuffers, 1).multipliedReportingOverflow(by: MemoryLayout<AudioBuffer>.stride)
    return overflow ? .max : buffers.addingReportingOverflow(head).overflow ? .max : buffers + head
  }

  /// All buffers of a list in memory.
  fileprivate static func buffers(_ list: UnsafeMutablePointer<AudioBufferList>) -> UnsafeMutablePointer<AudioBuffer> {
    (UnsafeMutableRawPointer(list) + head).assumingMemoryBound(to: AudioBuffer.self)
  }

  /// A list in memory of its own, whose owner deallocates it.
  static func make(_ buffers: [AudioBuffer]) -> UnsafeMutablePointer<AudioBufferList> {
    let raw = UnsafeMutableRawPointer.allocate(
      byteCount: sizeInBytes(maximumBuffers: buffers.count), alignment: MemoryLayout<AudioBufferList>.alignment)
    let list = raw.bindMemory(to: AudioBufferList.self, capacity: 1)
    list.initialize(
      to: AudioBufferList(mNumberBuffers: UInt32(truncatingIfNeeded: buffers.count), mBuffers: AudioBuffer()))
    for (index, buffer) in buffers.enumerated() { (self.buffers(list) + index).initialize(to: buffer) }
    return list
  }
}

/// The buffers of a list in memory, as a collection. Owns nothing.
public struct UnsafeMutableAudioBufferListPointer: MutableCollection, RandomAccessCollection {
  /// The list.
  public var unsafeMutablePointer: UnsafeMutablePointer<AudioBufferList>

  /// The buffers of a list.
  public init(_ list: UnsafeMutablePointer<AudioBufferList>) { unsafeMutablePointer = list }

  /// The buffers of a list, or nil for none.
  public init?(_ list: UnsafeMutablePointer<AudioBufferList>?) {
    guard let list else { return nil }
    self.init(list)
  }

  /// The list, for reading.
  public var unsafePointer: UnsafePointer<AudioBufferList> { UnsafePointer(unsafeMutablePointer) }
  /// How many buffers there are.
  public var count: Int {
    get { Int(unsafeMutablePointer.pointee.mNumberBuffers) }
    nonmutating set { unsafeMutablePointer.pointee.mNumberBuffers = UInt32(clamping: newValue) }
  }
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }

  public subscript(index: Int) -> AudioBuffer {
    get { buffers[index] }
    nonmutating set { buffers[index] = newValue }
  }

  private var buffers: UnsafeMutableBufferPointer<AudioBuffer> {
    UnsafeMutableBufferPointer(start: AudioBufferList.buffers(unsafeMutablePointer), count: count)
  }
}

extension UnsafeBufferPointer {
  /// The samples of a buffer that count.
  public init(_ audioBuffer: AudioBuffer) {
    let samples = audioBuffer.mData?.assumingMemoryBound(to: Element.self)
    self.init(start: samples, count: samples == nil ? 0 : Int(audioBuffer.mDataByteSize) / MemoryLayout<Element>.stride)
  }
}

extension UnsafeMutableBufferPointer {
  /// The samples of a buffer that count.
  public init(_ audioBuffer: AudioBuffer) {
    let samples = audioBuffer.mData?.assumingMemoryBound(to: Element.self)
    self.init(start: samples, count: samples == nil ? 0 : Int(audioBuffer.mDataByteSize) / MemoryLayout<Element>.stride)
  }
}
