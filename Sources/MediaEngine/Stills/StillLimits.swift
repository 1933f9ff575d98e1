/// What a still image may be at most. Beyond any camera of glasses or phone; a small file can claim any size.
package enum StillLimits {
  /// Longest side, in pixels: that of a pixel buffer.
  package static let maximumSide = 16384
  /// Pixels in all: 256 MB as BGRA.
  package static let maximumPixels = 64 * 1024 * 1024
  /// Bytes of a file.
  package static let maximumBytes = 128 * 1024 * 1024

  /// Throws `.sizeNotSupported` for a size of nothing or beyond the limits.
  static func check(width: Int, height: Int, while stage: MediaError.Stage) throws(MediaError) {
    guard 1...maximumSide ~= width, 1...maximumSide ~= height, width * height <= maximumPixels else {
      throw MediaError(.sizeNotSupported, while: stage, "\(width)x\(height)")
    }
  }

  /// Throws `.malformedData` for no bytes, `.sizeNotSupported` for too many.
  static func check(byteCount: Int) throws(MediaError) {
    guard byteCount > 0 else { throw MediaError(.malformedData, while: .decoding, "no bytes") }
    guard byteCount <= maximumBytes else {
      throw MediaError(.sizeNotSupported, while: .decoding, "\(byteCount) bytes")
    }
  }
}
