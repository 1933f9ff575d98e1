/// Sound in memory. Its memory lives as long as this object; pointers into it are valid no longer.
///
/// Buffers that a stream delivers are shared by all its listeners and read-only by agreement: whoever wants to change
/// samples changes those of a ``copy()``. A buffer that one's own code makes belongs to one thread at a time.
public class AVAudioBuffer {
  /// The form of the samples.
  public let format: AVAudioFormat
  let memory: PCMMemory

  init(format: AVAudioFormat, memory: PCMMemory) {
    self.format = format
    self.memory = memory
  }

  /// The samples by buffer; sizes say how much is in use.
  public var audioBufferList: UnsafePointer<AudioBufferList> { UnsafePointer(memory.used) }
  /// The samples by buffer, for writing; sizes say how much there is room for.
  public var mutableAudioBufferList: UnsafeMutablePointer<AudioBufferList> { memory.whole }

  /// A buffer of the same size with a copy of the samples. The result is of the type that was copied.
  public func copy() -> Any { self }
  /// The same as ``copy()``.
  public func mutableCopy() -> Any { copy() }
}
