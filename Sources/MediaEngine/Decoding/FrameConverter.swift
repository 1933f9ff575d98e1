import CFFmpeg
import PortableMedia

/// Makes 'y420' pictures in limited range out of whatever a decoder yields. Used by one thread at a time.
///
/// The common case, 8-bit 4:2:0 in limited range, is wrapped without a copy; everything else goes through libswscale.
final class FrameConverter {
  private let pools: PicturePools
  private var scaler: OpaquePointer?

  init(pools: PicturePools) { self.pools = pools }

  deinit { sws_freeContext(scaler) }

  /// The frame's picture. Takes the frame over: it must not be filled again, the picture may be its memory.
  func picture(_ frame: Frame, keepsFullRange: Bool = false) throws(MediaError) -> CVPixelBuffer {
    let isFull = Self.isFullRange(frame)
    let isPlain = frame.pixelFormat == AV_PIX_FMT_YUV420P || frame.pixelFormat == AV_PIX_FMT_YUVJ420P
    let picture =
      if isPlain, !isFull || keepsFullRange {
        try Self.wrap(frame, isFull ? .planar(.full) : .planar(.limited))
      } else {
        try convert(frame, isFull: isFull)
      }
    if let matrix = Self.matrix(frame) {
      CVBufferSetAttachment(
        picture, kCVImageBufferYCbCrMatrixKey, matrix, .shouldPropagate)
    }
    return picture
  }

  private static func isFullRange(_ frame: Frame) -> Bool {
    frame.pointer.pointee.color_range == AVCOL_RANGE_JPEG || frame.pixelFormat == AV_PIX_FMT_YUVJ420P
      || frame.pixelFormat == AV_PIX_FMT_YUVJ422P || frame.pixelFormat == AV_PIX_FMT_YUVJ444P
  }

  /// The matrix that a stream states; nil where it states none, or one that has no name here.
  private static func matrix(_ frame: Frame) -> CFString? {
    switch frame.pointer.pointee.colorspace {
    case AVCOL_SPC_BT709: kCVImageBufferYCbCrMatrix_ITU_R_709_2
    case AVCOL_SPC_SMPTE170M, AVCOL_SPC_BT470BG: kCVImageBufferYCbCrMatrix_ITU_R_601_4
    default: nil
    }
  }

  private static func wrap(_ frame: Frame, _ kind: PixelKind) throws(MediaError) -> CVPixelBuffer {
    let raw = frame.pointer.pointee
    guard let y = raw.data.0, let u = raw.data.1, let v = raw.data.2 else {
      throw MediaError(.libraryFailure, while: .decoding, "a frame without planes")
    }
    let planes = [
      CVPixelBuffer.ForeignPlane(base: y, bytesPerRow: Int(raw.linesize.0)),
      CVPixelBuffer.ForeignPlane(base: u, bytesPerRow: Int(raw.linesize.1)),
      CVPixelBuffer.ForeignPlane(base: v, bytesPerRow: Int(raw.linesize.2)),
    ]
    let picture = CVPixelBuffer(
      width: frame.width, height: frame.height, pixelFormat: kind.format, planes: planes, owner: frame)
    guard let picture else {
      throw MediaError(.sizeNotSupported, while: .decoding, "\(frame.width)x\(frame.height)")
    }
    return picture
  }

  private func convert(_ frame: Frame, isFull: Bool) throws(MediaError) -> CVPixelBuffer {
    let result = try pools.picture(
      width: frame.width, height: frame.height, format: kCVPixelFormatType_420YpCbCr8Planar)
    let target = try PlanarBytes(result)
    let width = Int32(clamping: frame.width)
    let height = Int32(clamping: frame.height)
    // Kept from frame to frame: it is made anew only when an argument changes.
    scaler = sws_getCachedContext(
      scaler, width, height, frame.pixelFormat, width, height, AV_PIX_FMT_YUV420P, SWS_BILINEAR, nil, nil, nil)
    guard let scaler else {
      let name = av_get_pix_fmt_name(frame.pixelFormat).map { String(cString: $0) } ?? "unknown"
      throw MediaError(.pixelFormatNotSupported, while: .converting, name)
    }
    // The matrix is the stream's on both sides, so only the range changes; RGB becomes BT.601.
    let matrix = sws_getCoefficients(
      Self.matrix(frame) == kCVImageBufferYCbCrMatrix_ITU_R_709_2 ? SWS_CS_ITU709 : SWS_CS_DEFAULT)
    let unit: Int32 = 1 << 16
    sws_setColorspaceDetails(scaler, matrix, isFull ? 1 : 0, matrix, 0, 0, unit, unit)
    let rows = try scale(scaler, frame, target)
    guard rows == height else {
      throw MediaError(.libraryFailure, while: .converting, "sws_scale made \(rows) of \(height) rows")
    }
    return result
  }

  private func scale(
    _ scaler: OpaquePointer, _ frame: Frame, _ target: PlanarBytes
  ) throws(MediaError) -> Int32 {
    var planes: [UnsafeMutablePointer<UInt8>?] = [target.y.base, target.u.base, target.v.base, nil]
    var strides: [Int32] = [target.y.stride, target.u.stride, target.v.stride, 0]
    let raw = frame.pointer.pointee
    let sources: [UnsafePointer<UInt8>?] = [
      UnsafePointer(raw.data.0), UnsafePointer(raw.data.1), UnsafePointer(raw.data.2), UnsafePointer(raw.data.3),
    ]
    let sourceStrides = [raw.linesize.0, raw.linesize.1, raw.linesize.2, raw.linesize.3]
    return try LibAV.check("sws_scale", while: .converting) {
      sws_scale(scaler, sources, sourceStrides, 0, raw.height, &planes, &strides)
    }
  }
}
