/// How a pixel buffer is locked.
public struct CVPixelBufferLockFlags: OptionSet, Hashable, Sendable {
  /// The bits.
  public let rawValue: CVOptionFlags

  /// Flags from bits.
  public init(rawValue: CVOptionFlags) { self.rawValue = rawValue }

  /// The pixels will be read only.
  public static let readOnly = CVPixelBufferLockFlags(rawValue: 1)
}

/// Makes the pixels' addresses available until the matching unlock. Locks nest; any thread; never waits.
@discardableResult
public func CVPixelBufferLockBaseAddress(_ pixelBuffer: CVPixelBuffer, _ lockFlags: CVPixelBufferLockFlags) -> CVReturn
{
  pixelBuffer.lock(readOnly: lockFlags.contains(.readOnly))
  return kCVReturnSuccess
}

/// Ends a lock. The flags must be those of the lock.
///
/// - Returns: ``kCVReturnError`` if there is no such lock.
@discardableResult
public func CVPixelBufferUnlockBaseAddress(_ pixelBuffer: CVPixelBuffer, _ unlockFlags: CVPixelBufferLockFlags)
  -> CVReturn
{
  pixelBuffer.unlock(readOnly: unlockFlags.contains(.readOnly)) ? kCVReturnSuccess : kCVReturnError
}

/// Width in pixels.
public func CVPixelBufferGetWidth(_ pixelBuffer: CVPixelBuffer) -> Int { pixelBuffer.width }

/// Height in pixels.
public func CVPixelBufferGetHeight(_ pixelBuffer: CVPixelBuffer) -> Int { pixelBuffer.height }

/// One of the `kCVPixelFormatType` constants.
public func CVPixelBufferGetPixelFormatType(_ pixelBuffer: CVPixelBuffer) -> OSType { pixelBuffer.format }

/// Address of the first row, of the first plane for a planar buffer; nil unless locked.
///
/// (Apple returns a descriptor of the planes for some planar buffers. Use ``CVPixelBufferGetBaseAddressOfPlane(_:_:)``
/// there.)
public func CVPixelBufferGetBaseAddress(_ pixelBuffer: CVPixelBuffer) -> UnsafeMutableRawPointer? {
  pixelBuffer.isLocked ? pixelBuffer.planes.first?.base : nil
}

/// Bytes from one row to the next, of the first plane for a planar buffer.
public func CVPixelBufferGetBytesPerRow(_ pixelBuffer: CVPixelBuffer) -> Int {
  pixelBuffer.planes.first?.bytesPerRow ?? 0
}

/// Bytes that the picture takes in memory, padding included.
public func CVPixelBufferGetDataSize(_ pixelBuffer: CVPixelBuffer) -> Int { pixelBuffer.dataSize }

/// True for the 4:2:0 formats.
public func CVPixelBufferIsPlanar(_ pixelBuffer: CVPixelBuffer) -> Bool { pixelBuffer.isPlanar }

/// Number of planes; 0 for a buffer that isn't planar.
public func CVPixelBufferGetPlaneCount(_ pixelBuffer: CVPixelBuffer) -> Int {
  pixelBuffer.isPlanar ? pixelBuffer.planes.count : 0
}

/// Width of a plane in its own pixels (a Cb/Cr pair is one). Plane 0 of a buffer that isn't planar is the buffer; other
/// indices that don't exist give 0.
public func CVPixelBufferGetWidthOfPlane(_ pixelBuffer: CVPixelBuffer, _ planeIndex: Int) -> Int {
  pixelBuffer.plane(planeIndex)?.width ?? 0
}

/// Rows of a plane; 0 for an index that doesn't exist.
public func CVPixelBufferGetHeightOfPlane(_ pixelBuffer: CVPixelBuffer, _ planeIndex: Int) -> Int {
  pixelBuffer.plane(planeIndex)?.height ?? 0
}

/// Address of a plane's first row; nil unless locked, and for an index that doesn't exist.
public func CVPixelBufferGetBaseAddressOfPlane(
  _ pixelBuffer: CVPixelBuffer, _ planeIndex: Int
) -> UnsafeMutableRawPointer? {
  pixelBuffer.isLocked ? pixelBuffer.plane(planeIndex)?.base : nil
}

/// Bytes from one row of a plane to the next; 0 for an index that doesn't exist.
public func CVPixelBufferGetBytesPerRowOfPlane(_ pixelBuffer: CVPixelBuffer, _ planeIndex: Int) -> Int {
  pixelBuffer.plane(planeIndex)?.bytesPerRow ?? 0
}

/// Pixels by which memory goes on beyond each edge. Always 0: the padding at the ends of rows belongs to nobody.
public func CVPixelBufferGetExtendedPixels(
  _ pixelBuffer: CVPixelBuffer, _ extraColumnsOnLeft: UnsafeMutablePointer<Int>?,
  _ extraColumnsOnRight: UnsafeMutablePointer<Int>?, _ extraRowsOnTop: UnsafeMutablePointer<Int>?,
  _ extraRowsOnBottom: UnsafeMutablePointer<Int>?
) {
  for pointer in [extraColumnsOnLeft, extraColumnsOnRight, extraRowsOnTop, extraRowsOnBottom] { pointer?.pointee = 0 }
}
