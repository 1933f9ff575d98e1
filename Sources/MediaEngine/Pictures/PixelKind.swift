import PortableMedia

/// The pixel formats the engine works with, taken apart into layout and range.
enum PixelKind: Hashable {
  /// 'y420', 'f420': luma, Cb and Cr planes.
  case planar(Range)
  /// '420v', '420f': a luma plane and one of Cb and Cr in turn.
  case biPlanar(Range)
  /// 'BGRA'.
  case bgra

  /// Which values are black and white.
  enum Range: Hashable {
    /// 16 to 235, chroma 16 to 240.
    case limited
    /// 0 to 255.
    case full
  }

  init?(_ format: OSType) {
    switch format {
    case kCVPixelFormatType_420YpCbCr8Planar: self = .planar(.limited)
    case kCVPixelFormatType_420YpCbCr8PlanarFullRange: self = .planar(.full)
    case kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange: self = .biPlanar(.limited)
    case kCVPixelFormatType_420YpCbCr8BiPlanarFullRange: self = .biPlanar(.full)
    case kCVPixelFormatType_32BGRA: self = .bgra
    default: return nil
    }
  }

  var format: OSType {
    switch self {
    case .planar(.limited): kCVPixelFormatType_420YpCbCr8Planar
    case .planar(.full): kCVPixelFormatType_420YpCbCr8PlanarFullRange
    case .biPlanar(.limited): kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
    case .biPlanar(.full): kCVPixelFormatType_420YpCbCr8BiPlanarFullRange
    case .bgra: kCVPixelFormatType_32BGRA
    }
  }
}

extension CVPixelBuffer {
  /// Throws `.pixelFormatNotSupported` for a format the engine does not work with.
  func kind() throws(MediaError) -> PixelKind {
    guard let kind = PixelKind(pixelFormat) else {
      throw MediaError(.pixelFormatNotSupported, while: .converting, "format code \(pixelFormat)")
    }
    return kind
  }

  /// True when the picture says that its colours follow ITU-R BT.709; without a word they follow BT.601.
  package var is709: Bool {
    CVBufferCopyAttachment(self, kCVImageBufferYCbCrMatrixKey, nil) as? String
      == kCVImageBufferYCbCrMatrix_ITU_R_709_2
  }
}
