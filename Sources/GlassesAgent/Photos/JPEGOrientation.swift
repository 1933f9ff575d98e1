import MediaEngine

/// Says in a JPEG file how its picture has to be turned.
enum JPEGOrientation {
  /// The file with an Exif segment right behind its start marker (JEITA CP-3451, 4.5.4 and 4.7): a TIFF directory whose
  /// only entry is the orientation. An upright picture needs none.
  static func stating(_ orientation: StillOrientation, in jpeg: [UInt8]) -> [UInt8] {
    guard orientation != .up, jpeg.count >= 2 else { return jpeg }
    let directory: [UInt8] = [
      0x00, 0x01,  // one entry
      0x01, 0x12, 0x00, 0x03, 0x00, 0x00, 0x00, 0x01,  // tag 274, SHORT, one value
      0x00, UInt8(truncatingIfNeeded: orientation.rawValue), 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00,  // no further directory
    ]
    let content = Array("Exif".utf8) + [0, 0] + Array("MM".utf8) + [0x00, 0x2A, 0x00, 0x00, 0x00, 0x08] + directory
    // The length counts its own two bytes.
    let segment = [0xFF, 0xE1, 0x00, UInt8(content.count + 2)] + content
    return jpeg[..<2] + segment + jpeg[2...]
  }
}
