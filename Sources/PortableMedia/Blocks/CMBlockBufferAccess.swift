/// Number of bytes.
public func CMBlockBufferGetDataLength(_ theBuffer: CMBlockBuffer) -> Int { theBuffer.length }

/// True if the buffer refers to nothing at all.
public func CMBlockBufferIsEmpty(_ theBuffer: CMBlockBuffer) -> Bool { theBuffer.snapshot.isEmpty }

/// True if a part lies in one block; `length` 0 means all that follows. False for a part outside the buffer.
public func CMBlockBufferIsRangeContiguous(_ theBuffer: CMBlockBuffer, atOffset offset: Int, length: Int) -> Bool {
  let segments = theBuffer.snapshot
  let length = length == 0 ? max(0, segments.reduce(0) { $0 + $1.length } - max(offset, 0)) : length
  let (part, status) = CMBlockBuffer.part(of: segments, offset: offset, length: length)
  return status == kCMBlockBufferNoErr && part.count == 1
}

/// Makes sure that all blocks have memory. They always have, unless the buffer is empty.
@discardableResult
public func CMBlockBufferAssureBlockMemory(_ theBuffer: CMBlockBuffer) -> OSStatus {
  theBuffer.snapshot.isEmpty ? kCMBlockBufferEmptyBBufErr : kCMBlockBufferNoErr
}

/// The address of the byte at an offset, how many bytes lie in one piece from there, and how many the buffer has.
///
/// Valid as long as the buffer is referenced. For reading once the buffer was shared: a buffer of a stream's frame is
/// everybody's.
///
/// - Returns: ``kCMBlockBufferNoErr``, or ``kCMBlockBufferBadOffsetParameterErr`` for an offset at or after the end.
@discardableResult
public func CMBlockBufferGetDataPointer(
  _ theBuffer: CMBlockBuffer, atOffset offset: Int, lengthAtOffsetOut: UnsafeMutablePointer<Int>?,
  totalLengthOut: UnsafeMutablePointer<Int>?, dataPointerOut: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> OSStatus {
  let segments = theBuffer.snapshot
  totalLengthOut?.pointee = segments.reduce(0) { $0 + $1.length }
  guard offset >= 0 else { return kCMBlockBufferBadOffsetParameterErr }
  var skip = offset
  for segment in segments {
    guard skip >= segment.length else {
      lengthAtOffsetOut?.pointee = segment.length - skip
      dataPointerOut?.pointee = (segment.base + skip).assumingMemoryBound(to: CChar.self)
      return kCMBlockBufferNoErr
    }
    skip -= segment.length
  }
  return kCMBlockBufferBadOffsetParameterErr
}

/// The address of a part in one piece: in place where it lies in one block, else copied to `temporaryBlock`, which must
/// have room for it.
///
/// - Returns: ``kCMBlockBufferNoErr``, or an error for a part outside the buffer.
@discardableResult
public func CMBlockBufferAccessDataBytes(
  _ theBuffer: CMBlockBuffer, atOffset offset: Int, length: Int, temporaryBlock: UnsafeMutableRawPointer,
  returnedPointerOut: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> OSStatus {
  let (part, status) = theBuffer.part(offset: offset, length: length)
  guard status == kCMBlockBufferNoErr else { return status }
  guard let first = part.first else { return kCMBlockBufferBadLengthParameterErr }
  if part.count > 1 { copy(part, to: temporaryBlock) }
  returnedPointerOut.pointee = (part.count > 1 ? temporaryBlock : first.base).assumingMemoryBound(to: CChar.self)
  return kCMBlockBufferNoErr
}

/// Copies a part to `destination`, which must have room for it.
///
/// - Returns: ``kCMBlockBufferNoErr``, or an error for a part outside the buffer.
@discardableResult
public func CMBlockBufferCopyDataBytes(
  _ theSourceBuffer: CMBlockBuffer, atOffset offsetToData: Int, dataLength: Int, destination: UnsafeMutableRawPointer
) -> OSStatus {
  let (part, status) = theSourceBuffer.part(offset: offsetToData, length: dataLength)
  guard status == kCMBlockBufferNoErr else { return status }
  copy(part, to: destination)
  return kCMBlockBufferNoErr
}

/// Writes bytes over a part of the buffer. For the buffer's maker, before others see it.
///
/// - Returns: ``kCMBlockBufferNoErr``, or an error for a part outside the buffer or without memory.
@discardableResult
public func CMBlockBufferReplaceDataBytes(
  with sourceBytes: UnsafeRawPointer, blockBuffer destinationBuffer: CMBlockBuffer, offsetIntoDestination: Int,
  dataLength: Int
) -> OSStatus {
  write(destinationBuffer, offset: offsetIntoDestination, length: dataLength) { segment, done in
    segment.base.copyMemory(from: sourceBytes + done, byteCount: segment.length)
  }
}

/// Writes one byte over a part of the buffer; `dataLength` 0 means all that follows. For the buffer's maker, before
/// others see it.
@discardableResult
public func CMBlockBufferFillDataBytes(
  with fillByte: CChar, blockBuffer destinationBuffer: CMBlockBuffer, offsetIntoDestination: Int, dataLength: Int
) -> OSStatus {
  let length = dataLength == 0 ? max(0, destinationBuffer.length - max(offsetIntoDestination, 0)) : dataLength
  return write(destinationBuffer, offset: offsetIntoDestination, length: length) { segment, _ in
    segment.base.initializeMemory(as: CChar.self, repeating: fillByte, count: segment.length)
  }
}

private func write(
  _ buffer: CMBlockBuffer, offset: Int, length: Int, _ body: (CMBlockBuffer.Segment, _ done: Int) -> Void
) -> OSStatus {
  let (_, status) = buffer.part(offset: offset, length: length)
  guard status == kCMBlockBufferNoErr else { return status }
  let writable = buffer.makeWritable()
  guard writable == kCMBlockBufferNoErr else { return writable }
  var done = 0
  for segment in buffer.part(offset: offset, length: length).0 {
    body(segment, done)
    done += segment.length
  }
  return kCMBlockBufferNoErr
}
