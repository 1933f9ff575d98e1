/// Called when a buffer over memory of the caller's is gone.
public typealias CVPixelBufferReleaseBytesCallback =
  @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Void

/// Called when a buffer over planes of the caller's is gone: reference, block, its size, number of planes, their
/// addresses.
public typealias CVPixelBufferReleasePlanarBytesCallback =
  @convention(c) (
    UnsafeMutableRawPointer?, UnsafeRawPointer?, Int, Int, UnsafeMutablePointer<UnsafeRawPointer?>?
  ) -> Void

/// Makes a pixel buffer with memory of its own, cleared.
///
/// Rows begin at multiples of 64 bytes (more by ``kCVPixelBufferBytesPerRowAlignmentKey``), and 64 bytes around each
/// plane are free for vector code to touch.
///
/// - Returns: ``kCVReturnSuccess``, ``kCVReturnInvalidSize`` for an edge outside 1…16384,
///   ``kCVReturnInvalidPixelFormat``, ``kCVReturnInvalidPixelBufferAttributes`` or ``kCVReturnAllocationFailed``.
@discardableResult
public func CVPixelBufferCreate(
  _ allocator: CFAllocator?, _ width: Int, _ height: Int, _ pixelFormatType: OSType,
  _ pixelBufferAttributes: CFDictionary?, _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
  pixelBufferOut.pointee = nil
  var rowAlignment = PixelLayout.alignment
  if let asked = pixelBufferAttributes?[kCVPixelBufferBytesPerRowAlignmentKey] {
    guard let asked = PropertyValue(asked)?.integer else { return kCVReturnInvalidPixelBufferAttributes }
    rowAlignment = asked
  }
  let (layout, status) = PixelLayout.make(
    width: width, height: height, format: pixelFormatType, rowAlignment: rowAlignment)
  guard let layout else { return status }
  guard let memory = PixelMemory(byteCount: layout.byteCount) else { return kCVReturnAllocationFailed }
  pixelBufferOut.pointee = CVBuffer(layout: layout, memory: memory, pool: nil)
  return kCVReturnSuccess
}

/// Makes a pixel buffer over rows that the caller holds, without a copy. For formats of one plane.
///
/// The memory must stay valid until `releaseCallback` has been called, once, on whichever thread drops the last
/// reference.
///
/// - Returns: as ``CVPixelBufferCreate(_:_:_:_:_:_:)``, and ``kCVReturnInvalidArgument`` if a row is too short.
@discardableResult
public func CVPixelBufferCreateWithBytes(
  _ allocator: CFAllocator?, _ width: Int, _ height: Int, _ pixelFormatType: OSType,
  _ baseAddress: UnsafeMutableRawPointer, _ bytesPerRow: Int, _ releaseCallback: CVPixelBufferReleaseBytesCallback?,
  _ releaseRefCon: UnsafeMutableRawPointer?, _ pixelBufferAttributes: CFDictionary?,
  _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
  let caller = CallerMemory(reference: releaseRefCon, block: baseAddress, planes: [baseAddress])
  return wrap(
    width: width, height: height, format: pixelFormatType, planes: [(baseAddress, bytesPerRow)],
    release: { releaseCallback?(caller.reference, caller.block) }, pixelBufferOut)
}

/// Makes a pixel buffer over planes that the caller holds, without a copy.
///
/// Plane sizes must be those that format and size imply. `dataPtr` and `dataSize` describe the block that holds all
/// planes, if there is one, and are handed to the callback. The memory must stay valid until `releaseCallback` has been
/// called, once, on whichever thread drops the last reference.
///
/// - Returns: as ``CVPixelBufferCreate(_:_:_:_:_:_:)``, and ``kCVReturnInvalidArgument`` if a plane doesn't fit.
@discardableResult
public func CVPixelBufferCreateWithPlanarBytes(
  _ allocator: CFAllocator?, _ width: Int, _ height: Int, _ pixelFormatType: OSType,
  _ dataPtr: UnsafeMutableRawPointer?, _ dataSize: Int, _ numberOfPlanes: Int,
  _ planeBaseAddress: UnsafeMutablePointer<UnsafeMutableRawPointer?>, _ planeWidth: UnsafeMutablePointer<Int>,
  _ planeHeight: UnsafeMutablePointer<Int>, _ planeBytesPerRow: UnsafeMutablePointer<Int>,
  _ releaseCallback: CVPixelBufferReleasePlanarBytesCallback?, _ releaseRefCon: UnsafeMutableRawPointer?,
  _ pixelBufferAttributes: CFDictionary?, _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
  pixelBufferOut.pointee = nil
  guard let shapes = PixelLayout.shapes(width: width, height: height, format: pixelFormatType) else {
    return kCVReturnInvalidPixelFormat
  }
  guard numberOfPlanes == shapes.count else { return kCVReturnInvalidArgument }
  var planes: [(UnsafeMutableRawPointer, Int)] = []
  for (index, shape) in shapes.enumerated() {
    guard let base = planeBaseAddress[index], planeWidth[index] == shape.width, planeHeight[index] == shape.height
    else {
      return kCVReturnInvalidArgument
    }
    planes.append((base, planeBytesPerRow[index]))
  }
  let caller = CallerMemory(reference: releaseRefCon, block: dataPtr, planes: planes.map { UnsafeRawPointer($0.0) })
  return wrap(
    width: width, height: height, format: pixelFormatType, planes: planes,
    release: {
      var addresses = caller.planes
      releaseCallback?(caller.reference, caller.block, dataSize, addresses.count, &addresses)
    }, pixelBufferOut)
}

/// Pointers that are handed back to the caller when its memory is no longer used.
///
/// Unchecked `Sendable`: they are constants, never followed here, and given to one callback once.
private struct CallerMemory: @unchecked Sendable {
  let reference: UnsafeMutableRawPointer?
  let block: UnsafeRawPointer?
  let planes: [UnsafeRawPointer?]
}

private func wrap(
  width: Int, height: Int, format: OSType, planes: [(UnsafeMutableRawPointer, Int)],
  release: @escaping @Sendable () -> Void, _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
  pixelBufferOut.pointee = nil
  let (layout, status) = PixelLayout.make(width: width, height: height, format: format)
  guard layout != nil else { return status }
  let foreign = planes.map { CVBuffer.ForeignPlane(base: $0.0, bytesPerRow: $0.1) }
  guard let checked = CVBuffer.planes(width: width, height: height, format: format, foreign: foreign) else {
    return kCVReturnInvalidArgument
  }
  let dataSize = checked.reduce(0) { $0 + $1.bytesPerRow * $1.height }
  pixelBufferOut.pointee = CVBuffer(
    width: width, height: height, format: format, planes: checked, dataSize: dataSize, owner: .release(release))
  return kCVReturnSuccess
}
