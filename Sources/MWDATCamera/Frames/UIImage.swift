import Foundation
import MediaEngine
import PortableMedia

/// The part of UIKit's image that clients of this interface need: from data, from a frame, to JPEG and PNG.
///
/// Immutable, so free to be used from any thread. There is no `cgImage`, and nothing draws it: a program on Linux shows
/// pictures by its own means.
public final class UIImage: Sendable {
  /// How the pixels must be turned or mirrored to be upright; the names are those of Exif's eight orientations.
  public enum Orientation: Int, Sendable {
    case up, down, left, right, upMirrored, downMirrored, leftMirrored, rightMirrored
  }

  /// Pixels for each point; always 1.
  public let scale: CGFloat = 1
  /// Always upright: what a file says of its orientation is applied when it is read.
  public let imageOrientation: Orientation = .up
  /// The pixels: BGRA of an image file, or a frame's own.
  package let pixelBuffer: CVPixelBuffer

  /// Nil when the data is not a JPEG, PNG or HEIC image that can be decoded. The pixels are decoded at once.
  public init?(data: Data) {
    guard let picture = try? StillDecoder.decode([UInt8](data)) else { return nil }
    pixelBuffer = picture
  }

  package init(pixelBuffer: CVPixelBuffer) { self.pixelBuffer = pixelBuffer }

  /// In points.
  public var size: CGSize {
    CGSize(width: CVPixelBufferGetWidth(pixelBuffer), height: CVPixelBufferGetHeight(pixelBuffer))
  }

  /// A JPEG file of the image (ITU-T T.81, full range); nil when there is no memory for it.
  ///
  /// - Parameter compressionQuality: from 0, smallest, to 1, best.
  public func jpegData(compressionQuality: CGFloat) -> Data? {
    let quality = compressionQuality.isNaN ? 1 : min(1, max(0, Double(compressionQuality)))
    return (try? JPEGEncoder.encode(pixelBuffer, quality: quality)).map { Data($0) }
  }

  /// A PNG file of the image; nil when there is no memory for it.
  public func pngData() -> Data? {
    (try? PNGEncoder.encode(pixelBuffer)).map { Data($0) }
  }
}
