import CYUV
import PortableMedia
import Units

/// Turns pictures into other formats and other ways up, by libyuv, into pooled buffers. Any thread.
///
/// Colours follow ITU-R BT.601, or BT.709 where the picture's matrix attachment says so. Attachments that propagate are
/// handed on.
package final class PictureConverter: Sendable {
  let pools: PicturePools

  package init(pools: PicturePools = PicturePools()) { self.pools = pools }

  /// The picture in another format ('y420', 'f420', '420v', '420f', 'BGRA'); itself if it has that format already.
  ///
  /// Throws `.pixelFormatNotSupported`, `.outOfMemory`.
  package func convert(_ picture: CVPixelBuffer, to format: OSType) throws(MediaError) -> CVPixelBuffer {
    guard picture.pixelFormat != format else { return picture }
    guard let target = PixelKind(format) else {
      throw MediaError(.pixelFormatNotSupported, while: .converting, "format code \(format)")
    }
    switch (try picture.kind(), target) {
    case (.planar(let from), .biPlanar(let to)) where from == to: return try biPlanar(from: picture, target)
    case (.biPlanar(let from), .planar(let to)) where from == to: return try planar(from: picture, target)
    case (.planar, .bgra), (.biPlanar, .bgra): return try bgra(from: picture)
    case (.bgra, .planar): return try planar(fromBGRA: picture, target)
    case (.bgra, .biPlanar(let range)):
      return try convert(try planar(fromBGRA: picture, .planar(range)), to: format)
    // Another range: by way of RGB, where black and white are the same.
    case (.planar, .planar), (.planar, .biPlanar), (.biPlanar, .planar), (.biPlanar, .biPlanar), (.bgra, .bgra):
      return try convert(try bgra(from: picture), to: format)
    }
  }

  /// The picture with colours by BT.601: itself, or a 'y420' picture that shows the same.
  ///
  /// Throws `.pixelFormatNotSupported`, `.outOfMemory`.
  package func convertedTo601(_ picture: CVPixelBuffer) throws(MediaError) -> CVPixelBuffer {
    guard picture.is709, try picture.kind() != .bgra else { return picture }
    // Another range has gone through RGB to BT.601 by then.
    let limited = try convert(picture, to: kCVPixelFormatType_420YpCbCr8Planar)
    guard limited.is709 else { return limited }
    let result = try made(like: limited, .planar(.limited))
    CVBufferSetAttachment(
      result, kCVImageBufferYCbCrMatrixKey, kCVImageBufferYCbCrMatrix_ITU_R_601_4, .shouldPropagate)
    MatrixChange.to601(try PlanarBytes(limited), into: try PlanarBytes(result))
    return result
  }

  /// The picture as R, G, B, A bytes without padding. Throws as `convert`.
  package func rgba(_ picture: CVPixelBuffer) throws(MediaError) -> [UInt8] {
    let bgra = try convert(picture, to: kCVPixelFormatType_32BGRA)
    let source = try PlaneBytes.bgra(bgra)
    let row = Int(source.width) * 4
    var code: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: row * Int(source.height)) { buffer, count in
      guard let base = buffer.baseAddress else { return }
      // libyuv names words of little-endian machines: its ARGB is B, G, R, A in memory, its ABGR is R, G, B, A.
      code = ARGBToABGR(source.base, source.stride, base, Int32(row), source.width, source.height)
      count = buffer.count
    }
    try checkYUV("ARGBToABGR", code)
    return bytes
  }

  private func made(like picture: CVPixelBuffer, _ kind: PixelKind) throws(MediaError) -> CVPixelBuffer {
    let result = try pools.picture(width: picture.pixelWidth, height: picture.pixelHeight, format: kind.format)
    CVBufferPropagateAttachments(picture, result)
    return result
  }

  private func biPlanar(from picture: CVPixelBuffer, _ kind: PixelKind) throws(MediaError) -> CVPixelBuffer {
    let result = try made(like: picture, kind)
    let source = try PlanarBytes(picture)
    let target = try BiPlanarBytes(result)
    try checkYUV(
      "I420ToNV12",
      I420ToNV12(
        source.y.base, source.y.stride, source.u.base, source.u.stride, source.v.base, source.v.stride,
        target.y.base, target.y.stride, target.uv.base, target.uv.stride, source.y.width, source.y.height))
    return result
  }

  private func planar(from picture: CVPixelBuffer, _ kind: PixelKind) throws(MediaError) -> CVPixelBuffer {
    let result = try made(like: picture, kind)
    let source = try BiPlanarBytes(picture)
    let target = try PlanarBytes(result)
    try checkYUV(
      "NV12ToI420",
      NV12ToI420(
        source.y.base, source.y.stride, source.uv.base, source.uv.stride, target.y.base, target.y.stride,
        target.u.base, target.u.stride, target.v.base, target.v.stride, source.y.width, source.y.height))
    return result
  }

  private func bgra(from picture: CVPixelBuffer) throws(MediaError) -> CVPixelBuffer {
    let result = try made(like: picture, .bgra)
    let target = try PlaneBytes.bgra(result)
    switch try picture.kind() {
    case .planar(let range):
      let source = try PlanarBytes(picture)
      try checkYUV(
        "I420ToARGBMatrix",
        I420ToARGBMatrix(
          source.y.base, source.y.stride, source.u.base, source.u.stride, source.v.base, source.v.stride,
          target.base, target.stride, Self.matrix(range, is709: picture.is709), source.y.width, source.y.height))
    case .biPlanar(let range):
      let source = try BiPlanarBytes(picture)
      try checkYUV(
        "NV12ToARGBMatrix",
        NV12ToARGBMatrix(
          source.y.base, source.y.stride, source.uv.base, source.uv.stride, target.base, target.stride,
          Self.matrix(range, is709: picture.is709), source.y.width, source.y.height))
    case .bgra: return picture
    }
    return result
  }

  private func planar(fromBGRA picture: CVPixelBuffer, _ kind: PixelKind) throws(MediaError) -> CVPixelBuffer {
    let result = try made(like: picture, kind)
    // What comes out is BT.601, whatever the picture was before it became RGB.
    CVBufferRemoveAttachment(result, kCVImageBufferYCbCrMatrixKey)
    let source = try PlaneBytes.bgra(picture)
    let target = try PlanarBytes(result)
    let call = kind == .planar(.full) ? ARGBToJ420 : ARGBToI420
    try checkYUV(
      kind == .planar(.full) ? "ARGBToJ420" : "ARGBToI420",
      call(
        source.base, source.stride, target.y.base, target.y.stride, target.u.base, target.u.stride,
        target.v.base, target.v.stride, source.width, source.height))
    return result
  }

  static func matrix(_ range: PixelKind.Range, is709: Bool) -> OpaquePointer? {
    switch (range, is709) {
    case (.limited, false): glasswing_yuv_601()
    case (.full, false): glasswing_yuv_601_full()
    case (.limited, true): glasswing_yuv_709()
    case (.full, true): glasswing_yuv_709_full()
    }
  }
}
