import FoundationEssentials

extension CMBlockBuffer {
  /// Options of block buffer calls.
  public struct Flags: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: CMBlockBufferFlags

    /// Flags from bits.
    public init(rawValue: CMBlockBufferFlags) { self.rawValue = rawValue }

    /// Allocate memory now.
    public static let assureMemoryNow = Flags(rawValue: kCMBlockBufferAssureMemoryNowFlag)
    /// Copy, even where a reference would do.
    public static let alwaysCopyData = Flags(rawValue: kCMBlockBufferAlwaysCopyDataFlag)
    /// Keep references to references.
    public static let dontOptimizeDepth = Flags(rawValue: kCMBlockBufferDontOptimizeDepthFlag)
    /// Allow a reference to an empty buffer.
    public static let permitEmptyReference = Flags(rawValue: kCMBlockBufferPermitEmptyReferenceFlag)
  }

  /// A buffer of `length` cleared bytes in memory of its own.
  ///
  /// - Throws: ``MediaStatusError`` for a length of zero or less, or without memory.
  public convenience init(length: Int, flags: Flags = []) throws(MediaStatusError) {
    guard length > 0 else { throw MediaStatusError(status: kCMBlockBufferBadLengthParameterErr) }
    guard let memory = BlockMemory(byteCount: length) else {
      throw MediaStatusError(status: kCMBlockBufferBlockAllocationFailedErr)
    }
    self.init(segments: [Segment(memory: memory, offset: 0, length: length)])
  }

  /// A buffer over memory of the caller's, without a copy. `deallocator` is called once, with the last reference, on
  /// any thread.
  ///
  /// - Throws: ``MediaStatusError`` for an empty buffer.
  public convenience init(
    buffer: UnsafeMutableRawBufferPointer, deallocator: @escaping @Sendable (UnsafeMutableRawPointer, Int) -> Void,
    flags: Flags = []
  ) throws(MediaStatusError) {
    guard let base = buffer.baseAddress, buffer.count > 0 else {
      throw MediaStatusError(status: kCMBlockBufferBadPointerParameterErr)
    }
    // An address is a number: it may travel in a Sendable closure, which hands it back as the pointer that it was.
    let address = UInt(bitPattern: base)
    let count = buffer.count
    let ending = BlockMemory.Ending.release {
      if let base = UnsafeMutableRawPointer(bitPattern: address) { deallocator(base, count) }
    }
    let memory = BlockMemory(base: base, byteCount: count, ending: ending)
    self.init(segments: [Segment(memory: memory, offset: 0, length: count)])
  }

  /// A buffer that refers to a part of another, without a copy.
  ///
  /// - Throws: ``MediaStatusError`` for a part outside the buffer.
  public convenience init(
    referencing source: CMBlockBuffer, range: Range<Int>, flags: Flags = []
  ) throws(MediaStatusError) {
    let (part, status) = source.part(offset: range.lowerBound, length: range.count)
    try check(status)
    self.init(segments: part)
  }

  /// Number of bytes.
  public var dataLength: Int { length }

  /// True if the buffer refers to nothing at all.
  public var isEmpty: Bool { snapshot.isEmpty }

  /// True if all bytes lie in one block.
  public var isContiguous: Bool { snapshot.count == 1 }

  /// Appends a reference to another buffer's bytes, without a copy.
  ///
  /// - Throws: ``MediaStatusError`` for an empty buffer, or one of too many blocks.
  public func append(bufferReference other: CMBlockBuffer, flags: Flags = []) throws(MediaStatusError) {
    try check(
      CMBlockBufferAppendBufferReference(self, targetBBuf: other, offsetToData: 0, dataLength: 0, flags: flags.rawValue)
    )
  }

  /// Runs `body` with all bytes in one piece: in place if they lie in one block, else in a copy that goes when it
  /// returns.
  public func withContiguousStorage<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    let segments = snapshot
    if segments.count <= 1 {
      return try withExtendedLifetime(segments) {
        try body(UnsafeRawBufferPointer(start: segments.first?.base, count: segments.first?.length ?? 0))
      }
    }
    return try Self.bytes(of: segments).withUnsafeBytes(body)
  }

  /// Runs `body` with the bytes that lie in one piece from `offset` on. For the buffer's maker, before others see it.
  ///
  /// - Throws: ``MediaStatusError`` for an offset at or after the end, and what `body` throws.
  public func withUnsafeMutableBytes<Result>(
    atOffset offset: Int = 0, _ body: (UnsafeMutableRawBufferPointer) throws -> Result
  ) throws -> Result {
    try check(makeWritable())
    let segments = snapshot
    let total = segments.reduce(0) { $0 + $1.length }
    guard offset >= 0, offset < total,
      let first = Self.part(of: segments, offset: offset, length: total - offset).0.first
    else { throw MediaStatusError(status: kCMBlockBufferBadOffsetParameterErr) }
    return try withExtendedLifetime(segments) {
      try body(UnsafeMutableRawBufferPointer(start: first.base, count: first.length))
    }
  }

  /// Copies all bytes to the start of `destination`.
  ///
  /// - Throws: ``MediaStatusError`` if they don't fit.
  public func copyDataBytes(to destination: UnsafeMutableRawBufferPointer) throws(MediaStatusError) {
    let segments = snapshot
    guard segments.reduce(0, { $0 + $1.length }) <= destination.count else {
      throw MediaStatusError(status: kCMBlockBufferInsufficientSpaceErr)
    }
    if let base = destination.baseAddress { copy(segments, to: base) }
  }

  /// A copy of all bytes.
  ///
  /// - Throws: ``MediaStatusError`` if the buffer is empty.
  public func dataBytes() throws(MediaStatusError) -> Data {
    let segments = snapshot
    guard !segments.isEmpty else { throw MediaStatusError(status: kCMBlockBufferEmptyBBufErr) }
    var data = Data(capacity: segments.reduce(0) { $0 + $1.length })
    for segment in segments { data.append(segment.base.assumingMemoryBound(to: UInt8.self), count: segment.length) }
    return data
  }

  /// Writes bytes over the start of the buffer. For the buffer's maker, before others see it.
  ///
  /// - Throws: ``MediaStatusError`` if they are more than the buffer holds.
  public func replaceDataBytes(with source: UnsafeRawBufferPointer) throws(MediaStatusError) {
    guard let base = source.baseAddress else { return }
    try check(
      CMBlockBufferReplaceDataBytes(
        with: base, blockBuffer: self, offsetIntoDestination: 0, dataLength: source.count))
  }

  /// A copy of all bytes as an array, for the rooms of this package.
  package var bytes: [UInt8] { Self.bytes(of: snapshot) }

  private static func bytes(of segments: [Segment]) -> [UInt8] {
    let count = segments.reduce(0) { $0 + $1.length }
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      if let base = buffer.baseAddress { copy(segments, to: base) }
      initialized = count
    }
  }
}
