import PortableMedia

/// The luma in the middle of a planar or bi-planar picture.
func luma(_ picture: CVPixelBuffer) -> Int {
  sample(picture, plane: 0, x: picture.pixelWidth / 2, y: picture.pixelHeight / 2)
}

/// A byte of a plane.
func sample(_ picture: CVPixelBuffer, plane index: Int, x: Int, y: Int) -> Int {
  guard let plane = picture.plane(index) else { return -1 }
  return Int(plane.base.load(fromByteOffset: y * plane.bytesPerRow + x, as: UInt8.self))
}

/// The quarters of a picture.
enum Corner: CaseIterable, Sendable {
  case upperLeft, upperRight, lowerLeft, lowerRight

  func isWhite(in picture: CVPixelBuffer) -> Bool {
    let right = self == .upperRight || self == .lowerRight
    let lower = self == .lowerLeft || self == .lowerRight
    let x = picture.pixelWidth * (right ? 3 : 1) / 4
    let y = picture.pixelHeight * (lower ? 3 : 1) / 4
    return sample(picture, plane: 0, x: x, y: y) > 200
  }
}
