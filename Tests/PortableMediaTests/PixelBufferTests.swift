import PortableMedia
import Synchronization
import Testing

private let formats: [OSType] = [
  kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange,
  kCVPixelFormatType_420YpCbCr8Planar, kCVPixelFormatType_420YpCbCr8PlanarFullRange, kCVPixelFormatType_32BGRA,
]

@Suite("Pixel buffers")
struct PixelBufferTests {
  private func create(
    _ width: Int, _ height: Int, _ format: OSType, _ attributes: CFDictionary? = nil
  ) -> (CVPixelBuffer?, CVReturn) {
    var buffer: CVPixelBuffer?
    let status = CVPixelBufferCreate(kCFAllocatorDefault, width, height, format, attributes, &buffer)
    return (buffer, status)
  }

  @Test("Formats are the characters that Apple's are")
  func codes() {
    #expect(kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange == 0x3432_3076)
    #expect(kCVPixelFormatType_420YpCbCr8BiPlanarFullRange == 0x3432_3066)
    #expect(kCVPixelFormatType_420YpCbCr8Planar == 0x7934_3230)
    #expect(kCVPixelFormatType_32BGRA == 0x4247_5241)
  }

  @Test("Planes have the sizes that 4:2:0 gives them, odd edges included")
  func planeSizes() throws {
    let biPlanar = try #require(create(505, 897, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange).0)
    #expect(CVPixelBufferIsPlanar(biPlanar) && CVPixelBufferGetPlaneCount(biPlanar) == 2)
    #expect(CVPixelBufferGetWidth(biPlanar) == 505 && CVPixelBufferGetHeight(biPlanar) == 897)
    #expect(CVPixelBufferGetWidthOfPlane(biPlanar, 1) == 253 && CVPixelBufferGetHeightOfPlane(biPlanar, 1) == 449)
    #expect(CVPixelBufferGetBytesPerRowOfPlane(biPlanar, 0) == 512)
    #expect(CVPixelBufferGetBytesPerRowOfPlane(biPlanar, 1) == 512)
    let planar = try #require(create(505, 897, kCVPixelFormatType_420YpCbCr8Planar).0)
    #expect(CVPixelBufferGetPlaneCount(planar) == 3 && CVPixelBufferGetBytesPerRowOfPlane(planar, 2) == 256)
    let packed = try #require(create(505, 897, kCVPixelFormatType_32BGRA).0)
    #expect(!CVPixelBufferIsPlanar(packed) && CVPixelBufferGetPlaneCount(packed) == 0)
    #expect(CVPixelBufferGetBytesPerRow(packed) == 2048 && CVPixelBufferGetPixelFormatType(packed) == 0x4247_5241)
  }

  @Test("Rows begin at multiples of 64, planes don't touch, and 64 bytes around each are free", arguments: formats)
  func alignment(format: OSType) throws {
    for (width, height) in [(1, 1), (2, 2), (63, 3), (64, 64), (505, 897), (16384, 2)] {
      let buffer = try #require(create(width, height, format).0)
      CVPixelBufferLockBaseAddress(buffer, [])
      defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
      var end: UInt = 0
      var used = 0
      for index in 0..<buffer.memoryPlaneCount {
        let plane = try #require(buffer.plane(index))
        let start = UInt(bitPattern: plane.base)
        #expect(start % 64 == 0 && plane.bytesPerRow % 64 == 0)
        if end > 0 { #expect(start >= end + 64) }
        let length = plane.bytesPerRow * plane.height
        end = start + UInt(length)
        used += length
        // Guards before and after belong to the block: under the address sanitizer this is the proof.
        for offset in [-64, -1, length, length + 63] { (plane.base + offset).storeBytes(of: 1, as: UInt8.self) }
      }
      #expect(CVPixelBufferGetDataSize(buffer) >= used + 128)
    }
  }

  @Test("Memory is cleared")
  func cleared() throws {
    let buffer = try #require(CVPixelBuffer(width: 64, height: 4, pixelFormat: kCVPixelFormatType_32BGRA))
    let plane = try #require(buffer.plane(0))
    #expect(UnsafeRawBufferPointer(start: plane.base, count: plane.bytesPerRow * 4).allSatisfy { $0 == 0 })
  }

  @Test("Addresses are there while locked, and only then; locks nest and match by flags")
  func locks() throws {
    let buffer = try #require(create(64, 64, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange).0)
    #expect(CVPixelBufferGetBaseAddressOfPlane(buffer, 0) == nil && CVPixelBufferGetBaseAddress(buffer) == nil)
    #expect(CVPixelBufferLockBaseAddress(buffer, .readOnly) == kCVReturnSuccess)
    #expect(CVPixelBufferLockBaseAddress(buffer, .readOnly) == kCVReturnSuccess)
    #expect(CVPixelBufferGetBaseAddressOfPlane(buffer, 1) != nil)
    #expect(CVPixelBufferGetBaseAddress(buffer) == CVPixelBufferGetBaseAddressOfPlane(buffer, 0))
    #expect(CVPixelBufferUnlockBaseAddress(buffer, []) == kCVReturnError)
    #expect(CVPixelBufferUnlockBaseAddress(buffer, .readOnly) == kCVReturnSuccess)
    #expect(CVPixelBufferGetBaseAddressOfPlane(buffer, 0) != nil)
    #expect(CVPixelBufferUnlockBaseAddress(buffer, .readOnly) == kCVReturnSuccess)
    #expect(CVPixelBufferGetBaseAddressOfPlane(buffer, 0) == nil)
    #expect(CVPixelBufferUnlockBaseAddress(buffer, .readOnly) == kCVReturnError)
  }

  @Test("Planes that don't exist are nil and zero", arguments: [-1, 2, Int.max, Int.min])
  func noSuchPlane(index: Int) throws {
    let buffer = try #require(create(64, 64, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange).0)
    CVPixelBufferLockBaseAddress(buffer, [])
    #expect(CVPixelBufferGetBaseAddressOfPlane(buffer, index) == nil)
    #expect(CVPixelBufferGetWidthOfPlane(buffer, index) == 0 && CVPixelBufferGetHeightOfPlane(buffer, index) == 0)
    #expect(CVPixelBufferGetBytesPerRowOfPlane(buffer, index) == 0)
  }

  @Test("Sizes, formats and attributes that can't be are refused by their own code")
  func refused() {
    for (width, height) in [(0, 1), (1, 0), (-4, 4), (16385, 16), (16, Int.max), (Int.min, Int.min)] {
      #expect(create(width, height, kCVPixelFormatType_32BGRA).1 == kCVReturnInvalidSize)
    }
    #expect(create(4, 4, 0).1 == kCVReturnInvalidPixelFormat)
    #expect(create(4, 4, 0x3231_3233).0 == nil)
    for alignment in [3, 0, -64, 1 << 40] as [Int] {
      let attributes = [kCVPixelBufferBytesPerRowAlignmentKey: alignment] as CFDictionary
      #expect(create(4, 4, kCVPixelFormatType_32BGRA, attributes).1 == kCVReturnInvalidPixelBufferAttributes)
    }
    let aligned = create(4, 4, kCVPixelFormatType_32BGRA, [kCVPixelBufferBytesPerRowAlignmentKey: 256]).0
    #expect(aligned.map(CVPixelBufferGetBytesPerRow) == 256)
  }

  @Test("Pixels of the caller's are wrapped and given back once")
  func wrapping() throws {
    final class Count: Sendable { let value = Atomic(0) }
    let count = Count()
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 64 * 32 * 3 / 2, alignment: 64)
    defer { memory.deallocate() }
    var bases: [UnsafeMutableRawPointer?] = [memory, memory + 64 * 32]
    var (widths, heights, strides) = ([64, 32], [32, 16], [64, 64])
    func wrap(_ planes: Int) -> (CVPixelBuffer?, CVReturn) {
      var buffer: CVPixelBuffer?
      let status = CVPixelBufferCreateWithPlanarBytes(
        nil, 64, 32, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, memory, 64 * 48, planes, &bases, &widths,
        &heights, &strides,
        { reference, block, size, planes, addresses in
          #expect(block != nil && size == 64 * 48 && planes == 2 && addresses?[1] != nil)
          guard let reference else { return }
          Unmanaged<Count>.fromOpaque(reference).takeUnretainedValue().value.add(1, ordering: .relaxed)
        }, Unmanaged.passUnretained(count).toOpaque(), nil, &buffer)
      return (buffer, status)
    }
    var wrapped = wrap(2)
    #expect(wrapped.1 == kCVReturnSuccess && wrapped.0?.plane(1)?.base == memory + 64 * 32)
    #expect(count.value.load(ordering: .relaxed) == 0)
    wrapped.0 = nil
    #expect(count.value.load(ordering: .relaxed) == 1)
    #expect(wrap(3).1 == kCVReturnInvalidArgument)
    for (keyPath, value) in [(0, 63), (1, 1 << 40), (0, -1)] {
      strides[keyPath] = value
      #expect(wrap(2).1 == kCVReturnInvalidArgument)
      strides[keyPath] = 64
    }
    heights[1] = 17
    #expect(wrap(2).1 == kCVReturnInvalidArgument)
    // A refused call gives nothing back: the memory never changed hands.
    #expect(count.value.load(ordering: .relaxed) == 1)
  }

  @Test("One plane of the caller's is wrapped too")
  func wrappingPacked() throws {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 16 * 4 * 4, alignment: 64)
    var buffer: CVPixelBuffer?
    let status = CVPixelBufferCreateWithBytes(
      nil, 16, 4, kCVPixelFormatType_32BGRA, memory, 64, { _, base in base?.deallocate() }, nil, nil, &buffer)
    #expect(status == kCVReturnSuccess && buffer.map(CVPixelBufferGetDataSize) == 256)
    var short: CVPixelBuffer?
    #expect(
      CVPixelBufferCreateWithBytes(nil, 16, 4, kCVPixelFormatType_32BGRA, memory, 63, nil, nil, nil, &short)
        == kCVReturnInvalidArgument)
  }

  @Test("A decoder's picture is kept by the buffer that wraps it")
  func foreignOwner() throws {
    final class Picture: Sendable {}
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 64 * 4, alignment: 64)
    defer { memory.deallocate() }
    weak var watched: Picture?
    var buffer: CVPixelBuffer?
    do {
      let picture = Picture()
      watched = picture
      buffer = CVPixelBuffer(
        width: 16, height: 4, pixelFormat: kCVPixelFormatType_32BGRA,
        planes: [.init(base: memory, bytesPerRow: 64)], owner: picture)
    }
    #expect(buffer != nil && watched != nil)
    buffer = nil
    #expect(watched == nil)
  }

  @Test("Attachments are kept by key and propagate by mode")
  func attachments() throws {
    let (a, b) = (create(4, 4, kCVPixelFormatType_32BGRA).0, create(4, 4, kCVPixelFormatType_32BGRA).0)
    let (source, target) = (try #require(a), try #require(b))
    CVBufferSetAttachment(source, "stays", 1, .shouldNotPropagate)
    CVBufferSetAttachment(source, "goes", "text", .shouldPropagate)
    var mode = CVAttachmentMode.shouldPropagate
    #expect(CVBufferCopyAttachment(source, "stays", &mode) as? Int == 1 && mode == .shouldNotPropagate)
    CVBufferPropagateAttachments(source, target)
    #expect(CVBufferCopyAttachment(target, "goes", nil) as? String == "text" && !CVBufferHasAttachment(target, "stays"))
    #expect(CVBufferCopyAttachments(source, .shouldNotPropagate)?.count == 1)
    CVBufferRemoveAttachment(source, "stays")
    #expect(CVBufferCopyAttachments(source, .shouldNotPropagate) == nil)
    CVBufferRemoveAllAttachments(source)
    #expect(!CVBufferHasAttachment(source, "goes"))
  }
}
