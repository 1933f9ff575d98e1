/// Where the planes of a picture lie in one block of memory.
///
/// Rows begin at multiples of 64 bytes and each plane has 64 bytes before and after it that belong to nobody, so that
/// vector code of libyuv, x265 and FFmpeg, which reads and writes whole vectors, stays inside the block.
struct PixelLayout: Hashable, Sendable {
  struct Plane: Hashable, Sendable {
    var width: Int
    var height: Int
    var bytesPerRow: Int
    /// From the start of the block.
    var offset: Int
  }

  /// Bytes between the starts of rows, and around planes, are multiples of this: the widest vector and cache line in
  /// use.
  static let alignment = 64
  /// The longest edge that is accepted. Far above any camera, and small enough that no product below overflows.
  static let maximumEdge = 16384

  let width: Int
  let height: Int
  let format: OSType
  let planes: [Plane]
  /// Length of the block, guards included.
  let byteCount: Int

  /// Nil for a format that isn't laid out here or for a size out of range; `status` says which.
  static func make(width: Int, height: Int, format: OSType, rowAlignment: Int = alignment) -> (PixelLayout?, CVReturn) {
    guard (1...maximumEdge).contains(width), (1...maximumEdge).contains(height) else {
      return (nil, kCVReturnInvalidSize)
    }
    guard rowAlignment > 0, rowAlignment <= 4096, rowAlignment.nonzeroBitCount == 1 else {
      return (nil, kCVReturnInvalidPixelBufferAttributes)
    }
    guard let shapes = shapes(width: width, height: height, format: format) else {
      return (nil, kCVReturnInvalidPixelFormat)
    }
    let alignment = max(rowAlignment, alignment)
    var offset = alignment
    var planes: [Plane] = []
    for shape in shapes {
      let bytesPerRow = (shape.width * shape.bytesPerPixel + alignment - 1) / alignment * alignment
      planes.append(Plane(width: shape.width, height: shape.height, bytesPerRow: bytesPerRow, offset: offset))
      offset += bytesPerRow * shape.height + alignment
    }
    let layout = PixelLayout(width: width, height: height, format: format, planes: planes, byteCount: offset)
    return (layout, kCVReturnSuccess)
  }

  typealias Shape = (width: Int, height: Int, bytesPerPixel: Int)

  /// Size of each plane in its own pixels. An odd edge gives chroma its last column or row of its own.
  static func shapes(width: Int, height: Int, format: OSType) -> [Shape]? {
    let halfWidth = (width + 1) / 2
    let halfHeight = (height + 1) / 2
    switch format {
    case kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange:
      return [(width, height, 1), (halfWidth, halfHeight, 2)]
    case kCVPixelFormatType_420YpCbCr8Planar, kCVPixelFormatType_420YpCbCr8PlanarFullRange:
      return [(width, height, 1), (halfWidth, halfHeight, 1), (halfWidth, halfHeight, 1)]
    case kCVPixelFormatType_32BGRA:
      return [(width, height, 4)]
    default:
      return nil
    }
  }

  /// Formats of several planes; the others have none in the sense of `CVPixelBufferGetPlaneCount`.
  var isPlanar: Bool { format != kCVPixelFormatType_32BGRA }
}
