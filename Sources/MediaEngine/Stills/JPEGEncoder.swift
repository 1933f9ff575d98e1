import CTurboJPEG
import CYUV
import PortableMedia
import Units

/// Encodes pictures as JPEG (JFIF: full range, BT.601), 4:2:0.
///
/// Any thread, no state. A picture in limited range or with BT.709 colours is converted, so that no colour washes out.
package enum JPEGEncoder {
  /// Good for photos: no loss that a viewer sees, a third of the bytes of 95.
  package static let defaultQuality = 85

  /// Rows that are converted at a time. A band of a wide photo stays in the processor's cache, and the picture is never
  /// held as RGB whole.
  private static let bandHeight = 32

  /// The picture ('y420', 'f420', '420v', '420f', 'BGRA') as a JPEG file.
  ///
  /// - Parameter quality: 1 to 100.
  ///
  /// Throws `.pixelFormatNotSupported`, `.sizeNotSupported`, `.outOfMemory`, `.libraryFailure`.
  package static func encode(_ picture: CVPixelBuffer, quality: Int = defaultQuality) throws(MediaError) -> [UInt8] {
    try StillLimits.check(width: picture.pixelWidth, height: picture.pixelHeight, while: .encoding)
    let full = try evenSided(try fullRange(picture))
    let planes = try PlanarBytes(full)
    // The picture's own size: an even-sided copy has a column or row more.
    let size = (width: Int32(picture.pixelWidth), height: Int32(picture.pixelHeight))
    let compressor = try TurboJPEG(.compress)
    var output: UnsafeMutablePointer<UInt8>?
    var byteCount: UInt = 0
    defer { tjFree(output) }
    var addresses: [UnsafePointer<UInt8>?] = [
      UnsafePointer(planes.y.base), UnsafePointer(planes.u.base), UnsafePointer(planes.v.base),
    ]
    let strides = [planes.y.stride, planes.u.stride, planes.v.stride]
    try compressor.check("tjCompressFromYUVPlanes", while: .encoding, cause: .libraryFailure) {
      tjCompressFromYUVPlanes(
        compressor.handle, &addresses, size.width, strides, size.height, Int32(TJSAMP_420.rawValue), &output,
        &byteCount, Int32(min(max(quality, 1), 100)), 0)
    }
    return [UInt8](UnsafeBufferPointer(start: output, count: Int(byteCount)))
  }

  /// TurboJPEG reads luma in whole chroma samples: beside an odd side it has to find one more column or row, the last again.
  private static func evenSided(_ picture: CVPixelBuffer) throws(MediaError) -> CVPixelBuffer {
    let width = picture.pixelWidth
    let height = picture.pixelHeight
    guard width % 2 == 1 || height % 2 == 1 else { return picture }
    let result = try PicturePools().picture(
      width: width + width % 2, height: height + height % 2, format: picture.pixelFormat)
    let source = try PlanarBytes(picture)
    let target = try PlanarBytes(result)
    try checkYUV(
      "I420Copy",
      I420Copy(
        source.y.base, source.y.stride, source.u.base, source.u.stride, source.v.base, source.v.stride,
        target.y.base, target.y.stride, target.u.base, target.u.stride, target.v.base, target.v.stride,
        source.y.width, source.y.height))
    if width % 2 == 1 {
      for y in 0..<height { target.y.at(x: width, y: y).pointee = target.y.at(x: width - 1, y: y).pointee }
    }
    if height % 2 == 1 {
      target.y.at(x: 0, y: height).update(from: target.y.at(x: 0, y: height - 1), count: Int(target.y.width))
    }
    return result
  }

  /// The picture as 'f420' in BT.601: itself, or converted by bands by way of RGB.
  private static func fullRange(_ picture: CVPixelBuffer) throws(MediaError) -> CVPixelBuffer {
    let target = PixelKind.planar(.full)
    switch try picture.kind() {
    case target where !picture.is709: return picture
    case .bgra, .biPlanar: return try fullRangeWhole(picture)
    case .planar(let range): return try fullRangeByBands(picture, range)
    }
  }

  private static func fullRangeWhole(_ picture: CVPixelBuffer) throws(MediaError) -> CVPixelBuffer {
    let converter = PictureConverter()
    guard case .biPlanar(let range) = try picture.kind() else {
      return try converter.convert(picture, to: PixelKind.planar(.full).format)
    }
    return try fullRange(try converter.convert(picture, to: PixelKind.planar(range).format))
  }

  private static func fullRangeByBands(
    _ picture: CVPixelBuffer, _ range: PixelKind.Range
  ) throws(MediaError) -> CVPixelBuffer {
    let pools = PicturePools()
    let width = picture.pixelWidth
    let height = picture.pixelHeight
    let result = try pools.picture(width: width, height: height, format: PixelKind.planar(.full).format)
    let band = try pools.picture(width: width, height: min(bandHeight, height), format: PixelKind.bgra.format)
    let source = try PlanarBytes(picture)
    let target = try PlanarBytes(result)
    let rgb = try PlaneBytes.bgra(band)
    let matrix = PictureConverter.matrix(range, is709: picture.is709)
    for y in stride(from: 0, to: height, by: bandHeight) {
      let rows = Int32(min(bandHeight, height - y))
      try checkYUV(
        "I420ToARGBMatrix",
        I420ToARGBMatrix(
          source.y.at(x: 0, y: y), source.y.stride, source.u.at(x: 0, y: y / 2), source.u.stride,
          source.v.at(x: 0, y: y / 2), source.v.stride, rgb.base, rgb.stride, matrix, source.y.width, rows))
      try checkYUV(
        "ARGBToJ420",
        ARGBToJ420(
          rgb.base, rgb.stride, target.y.at(x: 0, y: y), target.y.stride, target.u.at(x: 0, y: y / 2),
          target.u.stride, target.v.at(x: 0, y: y / 2), target.v.stride, source.y.width, rows))
    }
    return result
  }
}
