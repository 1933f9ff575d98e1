import CHEIF
import MediaEngine
import PortableMedia
import Units

/// Encodes still pictures to HEIC (ISO/IEC 23008-12 with HEVC).
///
/// Slow, so not for a lane that streams: 0.13 s at 720x1280, 1.1 s at 3024x4032.
package enum HEICEncoder {
  /// The library's quality, 0 to 100, per level.
  private static func percent(_ quality: StillQuality) -> Int32 {
    switch quality {
    case .low: 35
    case .medium: 55
    case .high: 75
    }
  }

  /// - Parameters:
  ///   - picture: `y420`, `420v` or `420f`, of any size up to 16384 a side; only read.
  ///   - orientation: as in Exif, 1 to 8 (CIPA DC-008, tag 0x0112): how a viewer must turn the picture. Written as item
  ///     properties (irot, imir); others read as 1.
  package static func encode(_ picture: CVPixelBuffer, quality: StillQuality = .high, orientation: UInt8 = 1)
    throws(MediaError) -> EncodedStill
  {
    let image = try HEIFImage(picture)
    let encoder = try HEIFEncoder(percent: percent(quality))
    let bytes = try encoder.encode(image, orientation: orientation)
    return EncodedStill(bytes: bytes, size: PixelSize(width: picture.pixelWidth, height: picture.pixelHeight))
  }
}
