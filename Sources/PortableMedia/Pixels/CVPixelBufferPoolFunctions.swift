/// Pool attribute: how many blocks may wait to be used again (at least ``CVPixelBufferPool``'s default).
public let kCVPixelBufferPoolMinimumBufferCountKey: CFString = "MinimumBufferCount"
/// Pool attribute: accepted for source compatibility. Blocks don't age here: their number is bounded instead.
public let kCVPixelBufferPoolMaximumBufferAgeKey: CFString = "MaximumBufferAge"
/// Auxiliary attribute: refuse when this many buffers are in use.
public let kCVPixelBufferPoolAllocationThresholdKey: CFString = "BufferPoolAllocationThreshold"

/// The most idle blocks that a client can make a pool keep.
private let largestIdleCount = 64

/// What ``CVPixelBufferPoolFlush(_:_:)`` frees.
public struct CVPixelBufferPoolFlushFlags: OptionSet, Hashable, Sendable {
  /// The bits.
  public let rawValue: CVOptionFlags

  /// Flags from bits.
  public init(rawValue: CVOptionFlags) { self.rawValue = rawValue }

  /// All blocks that wait to be used again. (The same as no flag, since blocks don't age here.)
  public static let excessBuffers = CVPixelBufferPoolFlushFlags(rawValue: 1)
}

/// Makes a pool. Size and format come from `pixelBufferAttributes`; rows are aligned as by
/// ``CVPixelBufferCreate(_:_:_:_:_:_:)``.
///
/// - Returns: ``kCVReturnSuccess``; ``kCVReturnInvalidPoolAttributes`` without size or format, or if a value has the
///   wrong kind; or what ``CVPixelBufferCreate(_:_:_:_:_:_:)`` says to the size or format.
@discardableResult
public func CVPixelBufferPoolCreate(
  _ allocator: CFAllocator?, _ poolAttributes: CFDictionary?, _ pixelBufferAttributes: CFDictionary?,
  _ poolOut: UnsafeMutablePointer<CVPixelBufferPool?>
) -> CVReturn {
  poolOut.pointee = nil
  // Values that can't be held belong to keys that mean nothing here.
  let attributes = (pixelBufferAttributes ?? [:]).compactMapValues(PropertyValue.init)
  let poolValues = (poolAttributes ?? [:]).compactMapValues(PropertyValue.init)
  guard let width = attributes[kCVPixelBufferWidthKey]?.integer,
    let height = attributes[kCVPixelBufferHeightKey]?.integer,
    let format = attributes[kCVPixelBufferPixelFormatTypeKey]?.pixelFormat
  else { return kCVReturnInvalidPoolAttributes }
  var rowAlignment = PixelLayout.alignment
  if let asked = attributes[kCVPixelBufferBytesPerRowAlignmentKey] {
    guard let asked = asked.integer else { return kCVReturnInvalidPoolAttributes }
    rowAlignment = asked
  }
  let (layout, status) = PixelLayout.make(width: width, height: height, format: format, rowAlignment: rowAlignment)
  guard let layout else { return status }
  let idle = min(poolValues[kCVPixelBufferPoolMinimumBufferCountKey]?.integer ?? 0, largestIdleCount)
  poolOut.pointee = CVPixelBufferPool(
    layout: layout, poolAttributes: poolValues, pixelBufferAttributes: attributes,
    maximumIdleCount: max(idle, CVPixelBufferPool.defaultMaximumIdleCount))
  return kCVReturnSuccess
}

/// Takes a buffer from the pool, with new memory if none is idle. Its pixels hold whatever was there before.
///
/// - Returns: ``kCVReturnSuccess`` or ``kCVReturnAllocationFailed``.
@discardableResult
public func CVPixelBufferPoolCreatePixelBuffer(
  _ allocator: CFAllocator?, _ pixelBufferPool: CVPixelBufferPool,
  _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
  CVPixelBufferPoolCreatePixelBufferWithAuxAttributes(allocator, pixelBufferPool, nil, pixelBufferOut)
}

/// Takes a buffer from the pool, unless as many are in use as ``kCVPixelBufferPoolAllocationThresholdKey`` allows.
///
/// - Returns: ``kCVReturnSuccess``, ``kCVReturnWouldExceedAllocationThreshold`` or ``kCVReturnAllocationFailed``.
@discardableResult
public func CVPixelBufferPoolCreatePixelBufferWithAuxAttributes(
  _ allocator: CFAllocator?, _ pixelBufferPool: CVPixelBufferPool, _ auxAttributes: CFDictionary?,
  _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
  let threshold = auxAttributes?[kCVPixelBufferPoolAllocationThresholdKey].flatMap(PropertyValue.init)?.integer
  let (buffer, status) = pixelBufferPool.make(threshold: threshold)
  pixelBufferOut.pointee = buffer
  return status
}

/// Frees the memory that waits to be used again.
public func CVPixelBufferPoolFlush(_ pool: CVPixelBufferPool, _ options: CVPixelBufferPoolFlushFlags) { pool.flush() }

/// The pool's own attributes, as given.
public func CVPixelBufferPoolGetAttributes(_ pool: CVPixelBufferPool) -> CFDictionary? {
  pool.poolAttributes.mapValues(\.any)
}

/// The attributes of the pool's buffers, as given.
public func CVPixelBufferPoolGetPixelBufferAttributes(_ pool: CVPixelBufferPool) -> CFDictionary? {
  pool.pixelBufferAttributes.mapValues(\.any)
}

extension PropertyValue {
  /// A pixel format: one, or the first of a list.
  fileprivate var pixelFormat: OSType? {
    if case .array(let values) = self { return values.first?.pixelFormat }
    return integer.flatMap(OSType.init(exactly:))
  }
}
