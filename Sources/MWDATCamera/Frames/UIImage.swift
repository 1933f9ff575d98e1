import Foundation
import MediaEngine
import PortableMedia

/// The part of UIKit's image that clients of this interface need: from a file's data or a frame, to JPEG and PNG data.
///
/// Immutable, and free to be used from any thread. There is no `cgImage`, and nothing draws it: a program on Linux shows
/// pictures by means of its own.
public final class UIImage: Sendable {
  /// Where the stored pixels belong: the names stand for Exif's eight orientations (CIPA DC-008, tag 0x0112).
  public enum Orientation: Int, Sendable {
    case up, down, left, right, upMirrored, downMirrored, leftMirrored, rightMirrored
  }

  /// How the stored pixels have to be turned to stand upright: what the file says, `.up` for a frame.
  public let imageOrientation: Orientation
  /// Pixels for each point; always 1.
  public let scale: CGFloat = 1

  /// As stored: BGRA of a file, or a frame's own pixels.
  package let pixelBuffer: CVPixelBuffer

  /// Nil when the data is not a JPEG, PNG or HEIC image, or damaged. The pixels are decoded here, on the calling thread.
  public init?(data: Data) {
    guard let image = try? StillDecoder.decode([UInt8](data)) else { return nil }
    pixelBuffer = image.picture
    imageOrientation = Orientation(image.orientation)
  }

  package init(pixelBuffer: CVPixelBuffer) {
    self.pixelBuffer = pixelBuffer
    imageOrientation = .up
  }

  /// In points, upright.
  public var size: CGSize {
    let (width, height) = (pixelBuffer.pixelWidth, pixelBuffer.pixelHeight)
    return imageOrientation.swapsSides ? CGSize(width: height, height: width) : CGSize(width: width, height: height)
  }

  /// A JPEG file of the upright image (JFIF: full range); nil when there is no memory for it.
  ///
  /// - Parameter compressionQuality: from 0, the smallest, to 1, the best.
  public func jpegData(compressionQuality: CGFloat) -> Data? {
    let quality = compressionQuality.isNaN ? 1 : min(1, max(0, Double(compressionQuality)))
    guard let bytes = try? JPEGEncoder.encode(try upright(), quality: Int((quality * 100).rounded())) else {
      return nil
    }
    return Data(bytes)
  }

  /// A PNG file of the upright image; nil when there is no memory for it.
  public func pngData() -> Data? {
    guard let bytes = try? PNGCoder.encode(try upright()) else { return nil }
    return Data(bytes)
  }

  /// The pixels with the orientation applied, in BGRA; the stored ones when there is none to apply.
  private func upright() throws(MediaError) -> CVPixelBuffer {
    guard imageOrientation != .up else { return pixelBuffer }
    let source = try PictureConverter().convert(pixelBuffer, to: kCVPixelFormatType_32BGRA)
    guard
      let result = CVPixelBuffer(
        width: Int(size.width), height: Int(size.height), pixelFormat: kCVPixelFormatType_32BGRA),
      let from = source.plane(0), let to = result.plane(0)
    else { throw MediaError(.outOfMemory, while: .converting) }
    let walk = imageOrientation.walk(width: from.width, height: from.height, rowLength: from.bytesPerRow)
    for y in 0..<to.height {
      var pixel = from.base + (walk.start + y * walk.down)
      let row = to.base + y * to.bytesPerRow
      for x in 0..<to.width {
        row.storeBytes(of: pixel.load(as: UInt32.self), toByteOffset: 4 * x, as: UInt32.self)
        pixel += walk.right
      }
    }
    return result
  }
}

extension UIImage.Orientation {
  init(_ orientation: StillOrientation) {
    self =
      switch orientation {
      case .up: .up
      case .upMirrored: .upMirrored
      case .down: .down
      case .downMirrored: .downMirrored
      case .leftMirrored: .leftMirrored
      case .right: .right
      case .rightMirrored: .rightMirrored
      case .left: .left
      }
  }

  var swapsSides: Bool {
    switch self {
    case .up, .down, .upMirrored, .downMirrored: false
    case .left, .right, .leftMirrored, .rightMirrored: true
    }
  }

  /// The way through stored pixels of 4 bytes that visits them as they stand upright: where the top left one lies, and
  /// how far it is to the next on the right and to the next below, in bytes.
  func walk(width: Int, height: Int, rowLength: Int) -> (start: Int, right: Int, down: Int) {
    let lastRow = (height - 1) * rowLength
    let lastColumn = (width - 1) * 4
    return switch self {
    case .up: (0, 4, rowLength)
    case .upMirrored: (lastColumn, -4, rowLength)
    case .down: (lastRow + lastColumn, -4, -rowLength)
    case .downMirrored: (lastRow, 4, -rowLength)
    case .leftMirrored: (0, rowLength, 4)
    case .right: (lastRow, -rowLength, 4)
    case .rightMirrored: (lastRow + lastColumn, -rowLength, -4)
    case .left: (lastColumn, rowLength, -4)
    }
  }
}
