import Synchronization

/// Success of a block buffer call.
public let kCMBlockBufferNoErr: OSStatus = 0
/// The buffer object could not be made.
public let kCMBlockBufferStructureAllocationFailedErr: OSStatus = -12700
/// The system gave no memory.
public let kCMBlockBufferBlockAllocationFailedErr: OSStatus = -12701
/// A custom block source was given; there are none here.
public let kCMBlockBufferBadCustomBlockSourceErr: OSStatus = -12702
/// The offset is outside the buffer.
public let kCMBlockBufferBadOffsetParameterErr: OSStatus = -12703
/// The length is negative, or leads outside the buffer.
public let kCMBlockBufferBadLengthParameterErr: OSStatus = -12704
/// A pointer that is needed is nil.
public let kCMBlockBufferBadPointerParameterErr: OSStatus = -12705
/// The buffer holds nothing.
public let kCMBlockBufferEmptyBBufErr: OSStatus = -12706
/// The block has no memory.
public let kCMBlockBufferUnallocatedBlockErr: OSStatus = -12707
/// There isn't enough room for what was asked.
public let kCMBlockBufferInsufficientSpaceErr: OSStatus = -12708

/// Options of block buffer calls, as bits.
public typealias CMBlockBufferFlags = UInt32
/// Allocate memory now. (It always is.)
public let kCMBlockBufferAssureMemoryNowFlag: CMBlockBufferFlags = 1 << 0
/// Copy, even where a reference would do.
public let kCMBlockBufferAlwaysCopyDataFlag: CMBlockBufferFlags = 1 << 1
/// Keep references to references. (They are always resolved here, at no cost to the reader.)
public let kCMBlockBufferDontOptimizeDepthFlag: CMBlockBufferFlags = 1 << 2
/// Allow a reference to an empty buffer.
public let kCMBlockBufferPermitEmptyReferenceFlag: CMBlockBufferFlags = 1 << 3

/// Bytes in one or several blocks of memory, shared without copies.
///
/// A buffer or a part of it can be referred to by others; memory is freed with its last reference. Bytes are written by
/// whoever made the buffer, before anybody else sees it; from then on any thread may read. The list of blocks is behind
/// a mutex, so appending and reading at once is safe too, though a pointer taken before covers only what was there.
public final class CMBlockBuffer: Sendable {
  /// A stretch of one block of memory.
  struct Segment: Sendable {
    var memory: BlockMemory
    var offset: Int
    var length: Int

    var base: UnsafeMutableRawPointer { memory.base + offset }
  }

  /// No buffer, however it is put together, has more blocks; keeps a loop that appends a buffer to itself from eating
  /// all memory.
  static let maximumSegments = 65_536

  private let segments: Mutex<[Segment]>

  init(segments: [Segment]) { self.segments = Mutex(segments) }

  /// The blocks as they are now.
  var snapshot: [Segment] { segments.withLock { $0 } }

  var length: Int { segments.withLock { $0.reduce(0) { $0 + $1.length } } }

  func append(_ added: [Segment]) -> OSStatus {
    segments.withLock { segments in
      var sum = 0
      for segment in segments { sum += segment.length }
      for segment in added {
        let (next, overflow) = sum.addingReportingOverflow(segment.length)
        guard !overflow else { return kCMBlockBufferBadLengthParameterErr }
        sum = next
      }
      guard segments.count + added.count <= Self.maximumSegments else {
        return kCMBlockBufferStructureAllocationFailedErr
      }
      segments += added
      return kCMBlockBufferNoErr
    }
  }

  /// Puts memory of its own in place of blocks that can't be written. Pointers taken before go on showing the old
  /// bytes.
  func makeWritable() -> OSStatus {
    segments.withLock { segments in
      for index in segments.indices where !segments[index].memory.isWritable {
        let old = segments[index]
        guard let memory = BlockMemory(byteCount: old.length) else { return kCMBlockBufferBlockAllocationFailedErr }
        memory.base.copyMemory(from: old.base, byteCount: old.length)
        segments[index] = Segment(memory: memory, offset: 0, length: old.length)
      }
      return kCMBlockBufferNoErr
    }
  }

  /// The stretches that make up a part. The status is an error if the part isn't inside the buffer.
  func part(offset: Int, length: Int) -> ([Segment], OSStatus) {
    Self.part(of: snapshot, offset: offset, length: length)
  }

  static func part(of segments: [Segment], offset: Int, length: Int) -> ([Segment], OSStatus) {
    let total = segments.reduce(0) { $0 + $1.length }
    guard offset >= 0, offset <= total else { return ([], kCMBlockBufferBadOffsetParameterErr) }
    guard length >= 0, length <= total - offset else { return ([], kCMBlockBufferBadLengthParameterErr) }
    var skip = offset
    var rest = length
    var part: [Segment] = []
    for segment in segments where rest > 0 {
      if skip >= segment.length {
        skip -= segment.length
        continue
      }
      let taken = min(segment.length - skip, rest)
      part.append(Segment(memory: segment.memory, offset: segment.offset + skip, length: taken))
      skip = 0
      rest -= taken
    }
    return (part, kCMBlockBufferNoErr)
  }
}

extension CMBlockBuffer {
  /// The bytes of an array from `offset` on, without a copy; all that follow unless `length` is given. Nil for a part
  /// that isn't inside the array. The C-style calls that write to the buffer copy it first; pointers into it are for
  /// reading.
  package convenience init?(bytes: [UInt8], offset: Int = 0, length: Int? = nil) {
    let length = length ?? bytes.count - min(max(offset, 0), bytes.count)
    guard offset >= 0, length >= 0, offset <= bytes.count, length <= bytes.count - offset else { return nil }
    guard length > 0, let memory = BlockMemory(array: bytes) else {
      self.init(segments: [])
      return
    }
    self.init(segments: [Segment(memory: memory, offset: offset, length: length)])
  }
}
