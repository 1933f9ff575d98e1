/// 8-bit 4:2:0, luma plane and interleaved Cb/Cr plane, video range (luma 16…235).
public let kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange: OSType = code("420v")
/// 8-bit 4:2:0, luma plane and interleaved Cb/Cr plane, full range (luma 0…255).
public let kCVPixelFormatType_420YpCbCr8BiPlanarFullRange: OSType = code("420f")
/// 8-bit 4:2:0 in three planes, video range.
public let kCVPixelFormatType_420YpCbCr8Planar: OSType = code("y420")
/// 8-bit 4:2:0 in three planes, full range.
public let kCVPixelFormatType_420YpCbCr8PlanarFullRange: OSType = code("f420")
/// 8-bit B, G, R, A, interleaved in that order in memory.
public let kCVPixelFormatType_32BGRA: OSType = code("BGRA")

/// Attribute: pixel format, a number or an array of numbers of which the first is taken.
public let kCVPixelBufferPixelFormatTypeKey: CFString = "PixelFormatType"
/// Attribute: width in pixels.
public let kCVPixelBufferWidthKey: CFString = "Width"
/// Attribute: height in pixels.
public let kCVPixelBufferHeightKey: CFString = "Height"
/// Attribute: rows begin at multiples of this many bytes (64 if less is asked).
public let kCVPixelBufferBytesPerRowAlignmentKey: CFString = "BytesPerRowAlignment"
/// Attribute: accepted for source compatibility; there are no IOSurfaces here.
public let kCVPixelBufferIOSurfacePropertiesKey: CFString = "IOSurfaceProperties"
/// Attribute: accepted for source compatibility; there is no Metal here.
public let kCVPixelBufferMetalCompatibilityKey: CFString = "MetalCompatibility"
/// Attribute: accepted for source compatibility; there is no Core Graphics here.
public let kCVPixelBufferCGImageCompatibilityKey: CFString = "CGImageCompatibility"
/// Attribute: accepted for source compatibility; there is no Core Graphics here.
public let kCVPixelBufferCGBitmapContextCompatibilityKey: CFString = "CGBitmapContextCompatibility"

/// Attachment: which colours the primaries are.
public let kCVImageBufferColorPrimariesKey: CFString = "CVImageBufferColorPrimaries"
/// Attachment: the transfer function.
public let kCVImageBufferTransferFunctionKey: CFString = "CVImageBufferTransferFunction"
/// Attachment: the matrix between RGB and YCbCr.
public let kCVImageBufferYCbCrMatrixKey: CFString = "CVImageBufferYCbCrMatrix"
/// Primaries of ITU-R BT.709.
public let kCVImageBufferColorPrimaries_ITU_R_709_2: CFString = "ITU_R_709_2"
/// Transfer function of ITU-R BT.709.
public let kCVImageBufferTransferFunction_ITU_R_709_2: CFString = "ITU_R_709_2"
/// Matrix of ITU-R BT.709.
public let kCVImageBufferYCbCrMatrix_ITU_R_709_2: CFString = "ITU_R_709_2"
/// Matrix of ITU-R BT.601.
public let kCVImageBufferYCbCrMatrix_ITU_R_601_4: CFString = "ITU_R_601_4"
