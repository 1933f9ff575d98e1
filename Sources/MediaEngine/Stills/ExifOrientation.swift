/// Finds the orientation in a JPEG file's Exif segment (JEITA CP-3451, 4.5 and 4.6). Pure; damaged data means "up".
enum ExifOrientation {
  /// The Orientation tag in the 0th image file directory.
  private static let tag = 274
  /// Type SHORT.
  private static let shortType = 3
  /// Segments before the scan; a camera writes a handful.
  private static let maximumSegments = 64

  static func read(jpeg bytes: UnsafeRawBufferPointer) -> StillOrientation {
    guard let segment = exifSegment(bytes) else { return .up }
    return orientation(in: UnsafeRawBufferPointer(rebasing: bytes[segment])) ?? .up
  }

  /// Where the TIFF structure of the first APP1 segment with an Exif header lies (ITU-T T.81, B.1.1.4).
  private static func exifSegment(_ bytes: UnsafeRawBufferPointer) -> Range<Int>? {
    guard bytes.count > 4, bytes[0] == 0xff, bytes[1] == 0xd8 else { return nil }
    var position = 2
    for _ in 0..<maximumSegments {
      guard position + 4 <= bytes.count, bytes[position] == 0xff else { return nil }
      let marker = bytes[position + 1]
      // Start of scan: no more segments.
      guard marker != 0xda else { return nil }
      let length = Int(bytes[position + 2]) << 8 | Int(bytes[position + 3])
      let end = position + 2 + length
      guard length >= 2, end <= bytes.count else { return nil }
      let header: [UInt8] = [0x45, 0x78, 0x69, 0x66, 0, 0]  // "Exif", 0, 0
      if marker == 0xe1, length >= 8, bytes[(position + 4)..<end].starts(with: header) {
        return position + 10..<end
      }
      position = end
    }
    return nil
  }

  private static func orientation(in tiff: UnsafeRawBufferPointer) -> StillOrientation? {
    guard tiff.count >= 8 else { return nil }
    let isLittle: Bool
    switch (tiff[0], tiff[1]) {
    case (0x49, 0x49): isLittle = true
    case (0x4d, 0x4d): isLittle = false
    case (_, _): return nil
    }
    func number(_ position: Int, _ count: Int) -> Int? {
      guard position >= 0, position <= tiff.count - count else { return nil }
      let field = tiff[position..<position + count]
      return isLittle ? field.reversed().reduce(0) { $0 << 8 | Int($1) } : field.reduce(0) { $0 << 8 | Int($1) }
    }
    guard number(2, 2) == 42, let directory = number(4, 4), let entries = number(directory, 2) else { return nil }
    for index in 0..<entries {
      let entry = directory + 2 + index * 12
      guard let entryTag = number(entry, 2), let type = number(entry + 2, 2), let value = number(entry + 8, 2) else {
        return nil
      }
      if entryTag == tag, type == shortType { return StillOrientation(rawValue: UInt16(truncatingIfNeeded: value)) }
    }
    return nil
  }
}
