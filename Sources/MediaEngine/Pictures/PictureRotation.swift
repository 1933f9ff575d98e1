import CYUV
import PortableMedia

/// How far a picture has to be turned, clockwise, to stand upright.
package enum QuarterTurns: Int, Hashable, Sendable, CaseIterable {
  case none = 0
  case quarter = 90
  case half = 180
  case threeQuarters = 270

  /// The nearest quarter turn to an angle in degrees, clockwise.
  init(nearestTo degrees: Double) {
    let turns = degrees.isFinite ? (degrees / 90).rounded().truncatingRemainder(dividingBy: 4) : 0
    switch turns < 0 ? turns + 4 : turns {
    case 1: self = .quarter
    case 2: self = .half
    case 3: self = .threeQuarters
    default: self = .none
    }
  }

  /// True when width and height change places.
  package var swapsSides: Bool { self == .quarter || self == .threeQuarters }

  fileprivate var mode: RotationMode {
    switch self {
    case .none: kRotate0
    case .quarter: kRotate90
    case .half: kRotate180
    case .threeQuarters: kRotate270
    }
  }
}

extension PictureConverter {
  /// The picture turned clockwise, in the same format ('y420', 'f420', 'BGRA'); itself for no turn. Bi-planar pictures come
  /// back planar.
  ///
  /// Throws `.pixelFormatNotSupported`, `.outOfMemory`.
  package func rotate(_ picture: CVPixelBuffer, by turns: QuarterTurns) throws(MediaError) -> CVPixelBuffer {
    guard turns != .none else { return picture }
    switch try picture.kind() {
    case .planar: return try rotatePlanar(picture, turns)
    case .biPlanar(let range): return try rotatePlanar(try convert(picture, to: PixelKind.planar(range).format), turns)
    case .bgra: return try rotateBGRA(picture, turns)
    }
  }

  private func turned(_ picture: CVPixelBuffer, _ turns: QuarterTurns) throws(MediaError) -> CVPixelBuffer {
    let width = turns.swapsSides ? picture.pixelHeight : picture.pixelWidth
    let height = turns.swapsSides ? picture.pixelWidth : picture.pixelHeight
    let result = try pools.picture(width: width, height: height, format: picture.pixelFormat)
    CVBufferPropagateAttachments(picture, result)
    return result
  }

  private func rotatePlanar(_ picture: CVPixelBuffer, _ turns: QuarterTurns) throws(MediaError) -> CVPixelBuffer {
    let result = try turned(picture, turns)
    let source = try PlanarBytes(picture)
    let target = try PlanarBytes(result)
    try checkYUV(
      "I420Rotate",
      I420Rotate(
        source.y.base, source.y.stride, source.u.base, source.u.stride, source.v.base, source.v.stride,
        target.y.base, target.y.stride, target.u.base, target.u.stride, target.v.base, target.v.stride,
        source.y.width, source.y.height, turns.mode))
    return result
  }

  private func rotateBGRA(_ picture: CVPixelBuffer, _ turns: QuarterTurns) throws(MediaError) -> CVPixelBuffer {
    let result = try turned(picture, turns)
    let source = try PlaneBytes.bgra(picture)
    let target = try PlaneBytes.bgra(result)
    try checkYUV(
      "ARGBRotate",
      ARGBRotate(
        source.base, source.stride, target.base, target.stride, source.width, source.height, turns.mode))
    return result
  }
}
