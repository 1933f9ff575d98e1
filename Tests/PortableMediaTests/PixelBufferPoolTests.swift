import PortableMedia
import Testing

@Suite("Pixel buffer pools")
struct PixelBufferPoolTests {
  private func pool(idle: Int = 4) throws -> CVPixelBufferPool {
    try #require(
      CVPixelBufferPool(
        width: 64, height: 32, pixelFormat: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, maximumIdleCount: idle))
  }

  private func address(_ buffer: CVPixelBuffer) throws -> UnsafeMutableRawPointer {
    try #require(buffer.plane(0)).base
  }

  @Test("Memory is used again once the last reference goes, and not before")
  func reuse() throws {
    let pool = try pool()
    var first = pool.makeBuffer()
    let there = try address(#require(first))
    var kept = first
    first = nil
    let second = try #require(pool.makeBuffer())
    #expect(try address(second) != there)
    #expect(kept != nil)
    kept = nil
    let third = try #require(pool.makeBuffer())
    #expect(try address(third) == there)
    #expect(pool.counters == counters(allocated: 2, reused: 1, outstanding: 2))
  }

  private func counters(
    allocated: Int = 0, reused: Int = 0, refused: Int = 0, freed: Int = 0, outstanding: Int = 0, idle: Int = 0
  ) -> CVPixelBufferPool.Counters {
    var counters = CVPixelBufferPool.Counters()
    counters.allocated = allocated
    counters.reused = reused
    counters.refused = refused
    counters.freed = freed
    counters.outstanding = outstanding
    counters.idle = idle
    return counters
  }

  @Test("No more blocks wait than the pool's bound; the rest is freed and counted")
  func bound() throws {
    let pool = try pool(idle: 2)
    var buffers = (0..<5).compactMap { _ in pool.makeBuffer() }
    #expect(buffers.count == 5)
    buffers = []
    #expect(pool.counters == counters(allocated: 5, freed: 3, idle: 2))
    CVPixelBufferPoolFlush(pool, .excessBuffers)
    #expect(pool.counters == counters(allocated: 5, freed: 5))
  }

  @Test("A buffer outlives its pool")
  func outlives() throws {
    var pool: CVPixelBufferPool? = try pool()
    weak let watched = pool
    var buffer = pool?.makeBuffer()
    pool = nil
    let plane = try #require(buffer?.plane(0))
    plane.base.storeBytes(of: 7, as: UInt8.self)
    #expect(watched != nil)
    buffer = nil
    #expect(watched == nil)
  }

  @Test("A threshold refuses while as many buffers are out, and is counted")
  func threshold() throws {
    var created: CVPixelBufferPool?
    let attributes: [CFString: Any] = [
      kCVPixelBufferWidthKey: 64, kCVPixelBufferHeightKey: 32,
      kCVPixelBufferPixelFormatTypeKey: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange,
    ]
    let status = CVPixelBufferPoolCreate(
      kCFAllocatorDefault, [kCVPixelBufferPoolMinimumBufferCountKey: 3] as CFDictionary, attributes as CFDictionary,
      &created)
    #expect(status == kCVReturnSuccess)
    let pool = try #require(created)
    let limit = [kCVPixelBufferPoolAllocationThresholdKey: 2] as CFDictionary
    func take() -> (CVPixelBuffer?, CVReturn) {
      var buffer: CVPixelBuffer?
      let status = CVPixelBufferPoolCreatePixelBufferWithAuxAttributes(nil, pool, limit, &buffer)
      return (buffer, status)
    }
    var held = [take(), take()]
    #expect(held.allSatisfy { $0.1 == kCVReturnSuccess })
    #expect(take().1 == kCVReturnWouldExceedAllocationThreshold && take().0 == nil)
    held.removeLast()
    #expect(take().1 == kCVReturnSuccess)
    #expect(pool.counters.refused == 2)
    var free: CVPixelBuffer?
    #expect(CVPixelBufferPoolCreatePixelBuffer(nil, pool, &free) == kCVReturnSuccess)
    #expect(CVPixelBufferPoolGetPixelBufferAttributes(pool)?[kCVPixelBufferWidthKey] as? Int == 64)
  }

  @Test("Pools without size or format, or of a size that can't be, aren't made")
  func refused() {
    let format = kCVPixelFormatType_32BGRA
    let cases: [([CFString: Any]?, CVReturn)] = [
      (nil, kCVReturnInvalidPoolAttributes),
      ([kCVPixelBufferWidthKey: 4, kCVPixelBufferHeightKey: 4], kCVReturnInvalidPoolAttributes),
      (
        [
          kCVPixelBufferWidthKey: "4", kCVPixelBufferHeightKey: 4, kCVPixelBufferPixelFormatTypeKey: format,
        ], kCVReturnInvalidPoolAttributes
      ),
      (
        [kCVPixelBufferWidthKey: 4, kCVPixelBufferHeightKey: 0, kCVPixelBufferPixelFormatTypeKey: format],
        kCVReturnInvalidSize
      ),
      (
        [kCVPixelBufferWidthKey: 4, kCVPixelBufferHeightKey: 4, kCVPixelBufferPixelFormatTypeKey: -1],
        kCVReturnInvalidPoolAttributes
      ),
      (
        [kCVPixelBufferWidthKey: 4, kCVPixelBufferHeightKey: 4, kCVPixelBufferPixelFormatTypeKey: [format]],
        kCVReturnSuccess
      ),
    ]
    for (attributes, expected) in cases {
      var pool: CVPixelBufferPool?
      #expect(CVPixelBufferPoolCreate(nil, nil, attributes, &pool) == expected)
      #expect((pool != nil) == (expected == kCVReturnSuccess))
    }
  }

  @Test("Many threads taking and dropping leave the counts right")
  func threads() async throws {
    let pool = try pool(idle: 3)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<500 { _ = pool.makeBuffer() }
        }
      }
    }
    let counters = pool.counters
    #expect(counters.outstanding == 0 && counters.allocated + counters.reused == 4000)
    #expect(counters.idle <= 3 && counters.allocated == counters.freed + counters.idle)
  }
}
