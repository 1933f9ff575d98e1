import Foundation
import PortableMedia
import Synchronization
import Testing

/// Two arrays and one block of memory, one after another: 0, 1, … 29.
private func threeBlocks() throws -> CMBlockBuffer {
  let buffer = try #require(CMBlockBuffer(bytes: Array(0..<10)))
  try buffer.append(bufferReference: #require(CMBlockBuffer(bytes: Array(5..<25), offset: 5, length: 10)))
  let last = try CMBlockBuffer(length: 10)
  try Array(UInt8(20)..<30).withUnsafeBytes { try last.replaceDataBytes(with: $0) }
  try buffer.append(bufferReference: last)
  return buffer
}

private func address(_ buffer: CMBlockBuffer, at offset: Int = 0) -> UnsafeMutablePointer<CChar>? {
  var pointer: UnsafeMutablePointer<CChar>?
  CMBlockBufferGetDataPointer(
    buffer, atOffset: offset, lengthAtOffsetOut: nil, totalLengthOut: nil, dataPointerOut: &pointer)
  return pointer
}

@Suite("Block buffers")
struct BlockBufferTests {
  @Test("Bytes of an array are shared, not copied")
  func sharesArray() throws {
    let array = Array(UInt8(0)..<100)
    let buffer = try #require(CMBlockBuffer(bytes: array, offset: 10, length: 20))
    #expect(CMBlockBufferGetDataLength(buffer) == 20 && buffer.isContiguous)
    let there = array.withUnsafeBytes { $0.baseAddress.map { UInt(bitPattern: $0) + 10 } }
    #expect(UInt(bitPattern: address(buffer)) == there)
    #expect(try buffer.dataBytes() == Data(10..<30))
  }

  @Test("A part outside the array makes no buffer; an empty part makes an empty one")
  func arrayParts() {
    let array: [UInt8] = [1, 2, 3]
    for (offset, length) in [(-1, 1), (0, -1), (2, 2), (4, 0), (Int.max, 1), (1, Int.max), (Int.min, Int.min)] {
      #expect(CMBlockBuffer(bytes: array, offset: offset, length: length) == nil)
    }
    #expect(CMBlockBuffer(bytes: array, offset: 1)?.bytes == [2, 3])
    #expect(CMBlockBuffer(bytes: array, offset: 3)?.isEmpty == true)
    #expect(CMBlockBuffer(bytes: [])?.dataLength == 0)
  }

  @Test("Every part of a buffer of several blocks copies right")
  func copies() throws {
    let buffer = try threeBlocks()
    #expect(buffer.dataLength == 30 && !buffer.isContiguous)
    for offset in 0...30 {
      for length in 0...(30 - offset) {
        var copy = [UInt8](repeating: 0xFF, count: 30)
        let status = CMBlockBufferCopyDataBytes(buffer, atOffset: offset, dataLength: length, destination: &copy)
        #expect(status == kCMBlockBufferNoErr)
        #expect(Array(copy.prefix(length)) == (offset..<offset + length).map { UInt8($0) })
        #expect(copy.dropFirst(length).allSatisfy { $0 == 0xFF })
      }
    }
  }

  @Test(
    "Parts outside the buffer are refused by every call",
    arguments: [(-1, 1), (31, 0), (0, 31), (30, 1), (29, 2), (0, -1), (Int.max, Int.max), (1, Int.max), (Int.min, 5)])
  func outside(offset: Int, length: Int) throws {
    let buffer = try threeBlocks()
    var room = [UInt8](repeating: 0, count: 64)
    var pointer: UnsafeMutablePointer<CChar>?
    #expect(
      CMBlockBufferCopyDataBytes(buffer, atOffset: offset, dataLength: length, destination: &room)
        != kCMBlockBufferNoErr)
    #expect(
      CMBlockBufferAccessDataBytes(
        buffer, atOffset: offset, length: length, temporaryBlock: &room, returnedPointerOut: &pointer)
        != kCMBlockBufferNoErr)
    #expect(
      CMBlockBufferReplaceDataBytes(
        with: &room, blockBuffer: buffer, offsetIntoDestination: offset, dataLength: length) != kCMBlockBufferNoErr)
    #expect(!CMBlockBufferIsRangeContiguous(buffer, atOffset: offset, length: length))
    if length != 0 {
      var part: CMBlockBuffer?
      let status = CMBlockBufferCreateWithBufferReference(
        allocator: nil, referenceBuffer: buffer, offsetToData: offset, dataLength: length, flags: 0,
        blockBufferOut: &part)
      #expect(status != kCMBlockBufferNoErr && part == nil)
      let contiguous = CMBlockBufferCreateContiguous(
        allocator: nil, sourceBuffer: buffer, blockAllocator: nil, customBlockSource: nil, offsetToData: offset,
        dataLength: length, flags: 0, blockBufferOut: &part)
      #expect(contiguous != kCMBlockBufferNoErr && part == nil)
    }
    #expect(buffer.bytes == Array(0..<30))
  }

  @Test("The data pointer says how far it goes and how much there is")
  func dataPointer() throws {
    let buffer = try threeBlocks()
    for (offset, expected) in [(0, 10), (9, 1), (10, 10), (25, 5)] {
      var (length, total) = (0, 0)
      var pointer: UnsafeMutablePointer<CChar>?
      let status = CMBlockBufferGetDataPointer(
        buffer, atOffset: offset, lengthAtOffsetOut: &length, totalLengthOut: &total, dataPointerOut: &pointer)
      #expect(status == kCMBlockBufferNoErr && length == expected && total == 30)
      #expect(pointer?.pointee == CChar(offset))
    }
    for offset in [30, -1, Int.max] {
      #expect(
        CMBlockBufferGetDataPointer(
          buffer, atOffset: offset, lengthAtOffsetOut: nil, totalLengthOut: nil, dataPointerOut: nil)
          == kCMBlockBufferBadOffsetParameterErr)
    }
  }

  @Test("Access is in place within a block and through the temporary one across blocks")
  func access() throws {
    let buffer = try threeBlocks()
    var room = [UInt8](repeating: 0, count: 8)
    try room.withUnsafeMutableBytes { room in
      let temporary = try #require(room.baseAddress)
      var pointer: UnsafeMutablePointer<CChar>?
      CMBlockBufferAccessDataBytes(
        buffer, atOffset: 1, length: 8, temporaryBlock: temporary, returnedPointerOut: &pointer)
      #expect(pointer == address(buffer, at: 1))
      CMBlockBufferAccessDataBytes(
        buffer, atOffset: 6, length: 8, temporaryBlock: temporary, returnedPointerOut: &pointer)
      #expect(pointer == temporary.assumingMemoryBound(to: CChar.self))
      #expect(Array(room) == Array(6..<14))
    }
  }

  @Test("References to parts share memory and outlive what they were made from")
  func references() throws {
    var buffer: CMBlockBuffer? = try threeBlocks()
    let part = try CMBlockBuffer(referencing: #require(buffer), range: 5..<25)
    let there = try address(#require(buffer), at: 12)
    buffer = nil
    #expect(part.bytes == Array(5..<25))
    #expect(address(part, at: 7) == there)
    let inner = try CMBlockBuffer(referencing: part, range: 1..<4)
    #expect(inner.isContiguous && inner.bytes == [6, 7, 8])
  }

  @Test("A contiguous buffer is a reference where it can be and a copy where it must")
  func contiguous() throws {
    let buffer = try threeBlocks()
    func contiguous(_ offset: Int, _ length: Int, flags: CMBlockBufferFlags = 0) throws -> CMBlockBuffer {
      var result: CMBlockBuffer?
      CMBlockBufferCreateContiguous(
        allocator: nil, sourceBuffer: buffer, blockAllocator: nil, customBlockSource: nil, offsetToData: offset,
        dataLength: length, flags: flags, blockBufferOut: &result)
      return try #require(result)
    }
    #expect(try address(contiguous(2, 5)) == address(buffer, at: 2))
    #expect(try address(contiguous(2, 5, flags: kCMBlockBufferAlwaysCopyDataFlag)) != address(buffer, at: 2))
    let all = try contiguous(0, 0)
    #expect(all.isContiguous && all.bytes == Array(0..<30))
    #expect(buffer.withContiguousStorage { Array($0) } == Array(0..<30))
  }

  @Test("Writing into a buffer never changes the array it was made from")
  func copyOnWrite() throws {
    let array = Array(UInt8(0)..<10)
    let buffer = try #require(CMBlockBuffer(bytes: array))
    let reference = try CMBlockBuffer(referencing: buffer, range: 0..<10)
    var new: [UInt8] = [200, 201]
    CMBlockBufferReplaceDataBytes(with: &new, blockBuffer: buffer, offsetIntoDestination: 4, dataLength: 2)
    #expect(buffer.bytes == [0, 1, 2, 3, 200, 201, 6, 7, 8, 9])
    try reference.withUnsafeMutableBytes(atOffset: 8) { $0[0] = 99 }
    #expect(reference.bytes.last == 9 && reference.bytes[8] == 99)
    #expect(array == Array(0..<10))
    CMBlockBufferFillDataBytes(with: 7, blockBuffer: buffer, offsetIntoDestination: 8, dataLength: 0)
    #expect(buffer.bytes.suffix(2) == [7, 7])
  }

  @Test("Memory of the caller's is given back once, with the last reference")
  func deallocator() throws {
    final class Count: Sendable { let value = Atomic(0) }
    let count = Count()
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 5)
    var buffer: CMBlockBuffer? = try CMBlockBuffer(
      buffer: memory,
      deallocator: { base, length in
        #expect(length == 16)
        base.deallocate()
        count.value.add(1, ordering: .relaxed)
      })
    var part: CMBlockBuffer? = try CMBlockBuffer(referencing: #require(buffer), range: 3..<6)
    buffer = nil
    #expect(count.value.load(ordering: .relaxed) == 0 && part?.bytes == [5, 5, 5])
    part = nil
    #expect(count.value.load(ordering: .relaxed) == 1)
  }

  @Test("Blocks of memory: allocated, the caller's, and what can't be")
  func memoryBlocks() throws {
    func create(
      _ memory: UnsafeMutableRawPointer?, _ length: Int, _ allocator: CFAllocator?, _ offset: Int, _ dataLength: Int
    ) -> (CMBlockBuffer?, OSStatus) {
      var buffer: CMBlockBuffer?
      let status = CMBlockBufferCreateWithMemoryBlock(
        allocator: kCFAllocatorDefault, memoryBlock: memory, blockLength: length, blockAllocator: allocator,
        customBlockSource: nil, offsetToData: offset, dataLength: dataLength, flags: 0, blockBufferOut: &buffer)
      return (buffer, status)
    }
    #expect(create(nil, 8, kCFAllocatorDefault, 2, 4).0?.bytes == [0, 0, 0, 0])
    var own: [UInt8] = [1, 2, 3, 4]
    own.withUnsafeMutableBytes { own in
      #expect(create(own.baseAddress, 4, kCFAllocatorNull, 1, 3).0?.bytes == [2, 3, 4])
    }
    #expect(create(nil, 0, nil, 0, 0).1 == kCMBlockBufferBadLengthParameterErr)
    #expect(create(nil, -5, nil, 0, 0).1 == kCMBlockBufferBadLengthParameterErr)
    #expect(create(nil, 8, nil, 8, 0).1 == kCMBlockBufferBadOffsetParameterErr)
    #expect(create(nil, 8, nil, 4, 5).1 == kCMBlockBufferBadLengthParameterErr)
    #expect(create(nil, 8, nil, 1, Int.max).1 == kCMBlockBufferBadLengthParameterErr)
    #expect(create(nil, Int.max / 2, nil, 0, 1).1 == kCMBlockBufferBlockAllocationFailedErr)
  }

  @Test("Empty buffers refuse references unless permitted, and a buffer that eats itself stops in time")
  func limits() throws {
    var empty: CMBlockBuffer?
    CMBlockBufferCreateEmpty(allocator: nil, capacity: 0, flags: 0, blockBufferOut: &empty)
    let buffer = try #require(empty)
    #expect(CMBlockBufferIsEmpty(buffer) && CMBlockBufferAssureBlockMemory(buffer) == kCMBlockBufferEmptyBBufErr)
    #expect(throws: MediaStatusError(status: kCMBlockBufferEmptyBBufErr)) {
      try buffer.append(bufferReference: buffer)
    }
    try buffer.append(bufferReference: buffer, flags: .permitEmptyReference)
    try buffer.append(bufferReference: CMBlockBuffer(length: 1))
    #expect(throws: MediaStatusError(status: kCMBlockBufferStructureAllocationFailedErr)) {
      for _ in 0..<64 { try buffer.append(bufferReference: buffer) }
    }
    #expect(buffer.dataLength == 65_536)
  }
}
