import PortableMedia

/// Decodes JPEG, PNG and HEIC images. Any thread, no state.
package enum StillDecoder {
  /// What the first bytes of a file say it is; nil for anything else.
  package static func format(of bytes: [UInt8]) -> StillFormat? {
    if bytes.starts(with: [0xff, 0xd8, 0xff]) { return .jpeg }
    if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) { return .png }
    // ISO/IEC 23008-12, 10.2: a file type box with a brand of HEVC coded images.
    guard bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) else { return nil }
    let brand = String(decoding: bytes[8..<12], as: UTF8.self)
    return ["heic", "heix", "mif1", "heim", "heis"].contains(brand) ? .heic : nil
  }

  /// Decodes an image of any of the formats.
  ///
  /// Throws `.notMedia` for bytes of another format, `.sizeNotSupported` beyond `StillLimits`, `.damagedPicture` for an
  /// image that is cut off or damaged, `.outOfMemory`.
  package static func decode(_ bytes: [UInt8]) throws(MediaError) -> StillImage {
    try StillLimits.check(byteCount: bytes.count)
    switch format(of: bytes) {
    case .jpeg: return try JPEGDecoder.decode(bytes)
    case .png: return try PNGCoder.decode(bytes)
    case .heic: return try HEICDecoder.decode(bytes)
    case nil: throw MediaError(.notMedia, while: .decoding, "neither JPEG, PNG nor HEIC")
    }
  }

  /// A buffer for a decoded image, within the limits.
  static func buffer(width: Int, height: Int) throws(MediaError) -> CVPixelBuffer {
    try StillLimits.check(width: width, height: height, while: .decoding)
    let picture = CVPixelBuffer(width: width, height: height, pixelFormat: kCVPixelFormatType_32BGRA)
    guard let picture else { throw MediaError(.outOfMemory, while: .decoding, "an image of \(width)x\(height)") }
    return picture
  }
}
