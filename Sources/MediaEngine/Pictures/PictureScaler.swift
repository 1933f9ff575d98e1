import CYUV
import PortableMedia
import Units

/// Fits pictures into one size: scaled as a whole, never stretched, black where the shapes differ.
///
/// Output is 'y420' in limited range with colours by BT.601, pooled. Any thread.
package final class PictureScaler: Sendable {
  /// The size of what comes out.
  package let size: PixelSize

  private let converter: PictureConverter

  /// Black in limited range.
  private static let black: (y: Int32, chroma: Int32) = (16, 128)

  package init(size: PixelSize, pools: PicturePools = PicturePools()) {
    self.size = size
    converter = PictureConverter(pools: pools)
  }

  /// The picture in the middle of the scaler's size; itself if it is 'y420' of that size and BT.601 already.
  ///
  /// Throws `.pixelFormatNotSupported`, `.sizeNotSupported`, `.outOfMemory`.
  package func fit(_ picture: CVPixelBuffer) throws(MediaError) -> CVPixelBuffer {
    let picture = try converter.convert(
      try converter.convertedTo601(picture), to: kCVPixelFormatType_420YpCbCr8Planar)
    let from = PixelSize(width: picture.pixelWidth, height: picture.pixelHeight)
    guard from != size else { return picture }
    let result = try converter.pools.picture(width: size.width, height: size.height, format: picture.pixelFormat)
    CVBufferPropagateAttachments(picture, result)
    let area = Self.area(of: from, in: size)
    let target = try PlanarBytes(result)
    try blacken(target, around: area)
    try Self.scale(try PlanarBytes(picture), into: target, area)
    return result
  }

  /// A rectangle of whole chroma samples: all its sides are even, except a side that is an odd size's whole.
  struct Area: Hashable {
    var x: Int
    var y: Int
    var width: Int
    var height: Int
  }

  /// The largest rectangle of `source`'s shape in `target`, in its middle, on even positions.
  static func area(of source: PixelSize, in target: PixelSize) -> Area {
    let sourceWidth = max(1, source.width)
    let sourceHeight = max(1, source.height)
    var width = target.width
    var height = target.height
    // Sides are at most 16384 here, so the products fit easily.
    if sourceWidth * target.height >= sourceHeight * target.width {
      height = even((sourceHeight * target.width + sourceWidth / 2) / sourceWidth, atMost: target.height)
    } else {
      width = even((sourceWidth * target.height + sourceHeight / 2) / sourceHeight, atMost: target.width)
    }
    let x = (target.width - width) / 2 & ~1
    let y = (target.height - height) / 2 & ~1
    return Area(x: x, y: y, width: width, height: height)
  }

  /// To the nearest even length that is not 0; a length within a pixel of the whole is the whole.
  private static func even(_ length: Int, atMost limit: Int) -> Int {
    length >= limit - 1 ? limit : max(min(2, limit), (length + 1) & ~1)
  }

  private func blacken(_ target: PlanarBytes, around area: Area) throws(MediaError) {
    let right = area.x + area.width
    let bottom = area.y + area.height
    try blacken(target, Area(x: 0, y: 0, width: size.width, height: area.y))
    try blacken(target, Area(x: 0, y: bottom, width: size.width, height: size.height - bottom))
    try blacken(target, Area(x: 0, y: area.y, width: area.x, height: area.height))
    try blacken(target, Area(x: right, y: area.y, width: size.width - right, height: area.height))
  }

  private func blacken(_ target: PlanarBytes, _ area: Area) throws(MediaError) {
    guard area.width > 0, area.height > 0 else { return }
    try checkYUV(
      "I420Rect",
      I420Rect(
        target.y.base, target.y.stride, target.u.base, target.u.stride, target.v.base, target.v.stride,
        Int32(area.x), Int32(area.y), Int32(area.width), Int32(area.height),
        Self.black.y, Self.black.chroma, Self.black.chroma))
  }

  /// Scales a whole picture into a part of another; averages where it shrinks.
  static func scale(_ source: PlanarBytes, into target: PlanarBytes, _ area: Area) throws(MediaError) {
    try checkYUV(
      "I420Scale",
      I420Scale(
        source.y.base, source.y.stride, source.u.base, source.u.stride, source.v.base, source.v.stride,
        source.y.width, source.y.height,
        target.y.at(x: area.x, y: area.y), target.y.stride,
        target.u.at(x: area.x / 2, y: area.y / 2), target.u.stride,
        target.v.at(x: area.x / 2, y: area.y / 2), target.v.stride,
        Int32(area.width), Int32(area.height), kFilterBox))
  }
}
