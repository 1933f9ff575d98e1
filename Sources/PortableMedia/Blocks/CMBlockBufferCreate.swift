/// Would let a client supply memory by its own functions. None is supported here: pass nil.
public struct CMBlockBufferCustomBlockSource: Sendable {
  /// The version of the structure.
  public var version: UInt32
  /// A source of that version.
  public init(version: UInt32 = 0) { self.version = version }
}

/// Makes a buffer without bytes, to append to.
@discardableResult
public func CMBlockBufferCreateEmpty(
  allocator structureAllocator: CFAllocator?, capacity subBlockCapacity: UInt32, flags: CMBlockBufferFlags,
  blockBufferOut: UnsafeMutablePointer<CMBlockBuffer?>
) -> OSStatus {
  blockBufferOut.pointee = CMBlockBuffer(segments: [])
  return kCMBlockBufferNoErr
}

/// Makes a buffer over a block of memory, without a copy.
///
/// Without `memoryBlock`, cleared memory is allocated. With it and ``kCFAllocatorNull`` the caller keeps owning the
/// memory and must outlive the buffer; with any other allocator it is freed by the C library's `free` with the last
/// reference.
///
/// - Returns: ``kCMBlockBufferNoErr``, or an error for a length, an offset or a block source that can't be, or without
///   memory.
@discardableResult
public func CMBlockBufferCreateWithMemoryBlock(
  allocator structureAllocator: CFAllocator?, memoryBlock: UnsafeMutableRawPointer?, blockLength: Int,
  blockAllocator: CFAllocator?, customBlockSource: UnsafePointer<CMBlockBufferCustomBlockSource>?, offsetToData: Int,
  dataLength: Int, flags: CMBlockBufferFlags, blockBufferOut: UnsafeMutablePointer<CMBlockBuffer?>
) -> OSStatus {
  let buffer = CMBlockBuffer(segments: [])
  let status = CMBlockBufferAppendMemoryBlock(
    buffer, memoryBlock: memoryBlock, length: blockLength, blockAllocator: blockAllocator,
    customBlockSource: customBlockSource, offsetToData: offsetToData, dataLength: dataLength, flags: flags)
  blockBufferOut.pointee = status == kCMBlockBufferNoErr ? buffer : nil
  return status
}

/// Makes a buffer that refers to a part of another, without a copy; `dataLength` 0 means all that follows.
///
/// - Returns: ``kCMBlockBufferNoErr``, an error for a part outside the buffer, or ``kCMBlockBufferEmptyBBufErr`` for an
///   empty buffer without ``kCMBlockBufferPermitEmptyReferenceFlag``.
@discardableResult
public func CMBlockBufferCreateWithBufferReference(
  allocator structureAllocator: CFAllocator?, referenceBuffer bufferReference: CMBlockBuffer, offsetToData: Int,
  dataLength: Int, flags: CMBlockBufferFlags, blockBufferOut: UnsafeMutablePointer<CMBlockBuffer?>
) -> OSStatus {
  let buffer = CMBlockBuffer(segments: [])
  let status = CMBlockBufferAppendBufferReference(
    buffer, targetBBuf: bufferReference, offsetToData: offsetToData, dataLength: dataLength, flags: flags)
  blockBufferOut.pointee = status == kCMBlockBufferNoErr ? buffer : nil
  return status
}

/// Makes a buffer whose bytes lie in one block: a reference if the part of `sourceBuffer` already does and no copy is
/// asked by ``kCMBlockBufferAlwaysCopyDataFlag``, else a copy. `dataLength` 0 means all that follows.
@discardableResult
public func CMBlockBufferCreateContiguous(
  allocator structureAllocator: CFAllocator?, sourceBuffer: CMBlockBuffer, blockAllocator: CFAllocator?,
  customBlockSource: UnsafePointer<CMBlockBufferCustomBlockSource>?, offsetToData: Int, dataLength: Int,
  flags: CMBlockBufferFlags, blockBufferOut: UnsafeMutablePointer<CMBlockBuffer?>
) -> OSStatus {
  blockBufferOut.pointee = nil
  guard customBlockSource == nil else { return kCMBlockBufferBadCustomBlockSourceErr }
  let segments = sourceBuffer.snapshot
  let length = dataLength == 0 ? max(0, segments.reduce(0) { $0 + $1.length } - max(offsetToData, 0)) : dataLength
  let (part, status) = CMBlockBuffer.part(of: segments, offset: offsetToData, length: length)
  guard status == kCMBlockBufferNoErr else { return status }
  if part.count <= 1, flags & kCMBlockBufferAlwaysCopyDataFlag == 0 {
    blockBufferOut.pointee = CMBlockBuffer(segments: part)
    return kCMBlockBufferNoErr
  }
  guard let memory = BlockMemory(byteCount: length) else { return kCMBlockBufferBlockAllocationFailedErr }
  copy(part, to: memory.base)
  blockBufferOut.pointee = CMBlockBuffer(segments: [.init(memory: memory, offset: 0, length: length)])
  return kCMBlockBufferNoErr
}

/// Appends a block of memory, by the rules of `CMBlockBufferCreateWithMemoryBlock`.
@discardableResult
public func CMBlockBufferAppendMemoryBlock(
  _ theBuffer: CMBlockBuffer, memoryBlock: UnsafeMutableRawPointer?, length blockLength: Int,
  blockAllocator: CFAllocator?, customBlockSource: UnsafePointer<CMBlockBufferCustomBlockSource>?, offsetToData: Int,
  dataLength: Int, flags: CMBlockBufferFlags
) -> OSStatus {
  guard customBlockSource == nil else { return kCMBlockBufferBadCustomBlockSourceErr }
  guard blockLength > 0 else { return kCMBlockBufferBadLengthParameterErr }
  guard offsetToData >= 0, offsetToData < blockLength else { return kCMBlockBufferBadOffsetParameterErr }
  guard dataLength >= 0, dataLength <= blockLength - offsetToData else { return kCMBlockBufferBadLengthParameterErr }
  let memory: BlockMemory
  if let memoryBlock {
    memory = BlockMemory(
      base: memoryBlock, byteCount: blockLength, ending: blockAllocator == kCFAllocatorNull ? .none : .free)
  } else {
    guard let allocated = BlockMemory(byteCount: blockLength) else { return kCMBlockBufferBlockAllocationFailedErr }
    memory = allocated
  }
  return theBuffer.append([.init(memory: memory, offset: offsetToData, length: dataLength)])
}

/// Appends a reference to a part of another buffer, without a copy; `dataLength` 0 means all that follows.
@discardableResult
public func CMBlockBufferAppendBufferReference(
  _ theBuffer: CMBlockBuffer, targetBBuf: CMBlockBuffer, offsetToData: Int, dataLength: Int, flags: CMBlockBufferFlags
) -> OSStatus {
  let segments = targetBBuf.snapshot
  let total = segments.reduce(0) { $0 + $1.length }
  guard total > 0 || flags & kCMBlockBufferPermitEmptyReferenceFlag != 0 else { return kCMBlockBufferEmptyBBufErr }
  let length = dataLength == 0 ? max(0, total - max(offsetToData, 0)) : dataLength
  let (part, status) = CMBlockBuffer.part(of: segments, offset: offsetToData, length: length)
  return status == kCMBlockBufferNoErr ? theBuffer.append(part) : status
}

/// Copies stretches, one after another.
func copy(_ segments: [CMBlockBuffer.Segment], to destination: UnsafeMutableRawPointer) {
  var offset = 0
  for segment in segments {
    (destination + offset).copyMemory(from: segment.base, byteCount: segment.length)
    offset += segment.length
  }
}
