import PortableMedia
import Units

/// Pictures as bare bytes of one size and layout, the form in which programs pass them through pipes: I420, that is, the
/// luma plane, then Cb, then Cr, rows without padding, limited range, colours by ITU-R BT.601.
///
/// A picture of another size is scaled as a whole into this one, black where the shapes differ: nothing in such a stream
/// could say that the size has changed. Any thread.
package final class PictureBytes: Sendable {
  package let size: PixelSize

  private let scaler: PictureScaler

  package init(size: PixelSize) {
    self.size = size
    scaler = PictureScaler(size: size)
  }

  /// Bytes of each picture. Planes of odd sizes are rounded up.
  package var count: Int { size.width * size.height + 2 * ((size.width + 1) / 2) * ((size.height + 1) / 2) }

  /// Puts a picture behind what is in `bytes`.
  ///
  /// Throws `.pixelFormatNotSupported`, `.sizeNotSupported`, `.outOfMemory`.
  package func append(_ picture: CVPixelBuffer, to bytes: inout [UInt8]) throws(MediaError) {
    let planes = try PlanarBytes(try scaler.fit(picture))
    bytes.reserveCapacity(bytes.count + count)
    for plane in [planes.y, planes.u, planes.v] {
      for row in 0..<Int(plane.height) {
        bytes += UnsafeBufferPointer(start: plane.at(x: 0, y: row), count: Int(plane.width))
      }
    }
  }

  /// What a YUV4MPEG2 stream of such pictures begins with (mjpegtools, yuv4mpeg(5)): progressive, square pixels, chroma
  /// sited as in MPEG-2.
  ///
  /// - Parameter rate: pictures a second; a stream has one rate for all of its pictures.
  package func y4mHeader(rate: Int) -> String {
    "YUV4MPEG2 W\(size.width) H\(size.height) F\(max(1, rate)):1 Ip A1:1 C420mpeg2 XYSCSS=420MPEG2 XCOLORRANGE=LIMITED\n"
  }

  /// What each picture of a YUV4MPEG2 stream begins with.
  package static let y4mFrameHeader = "FRAME\n"
}
