/// Reads the parameter sets out of the record that a file keeps for its track.
enum ConfigurationRecord {
  /// Sets in file order, and how many bytes a length before a NAL unit has (1, 2 or 4).
  struct Content: Hashable {
    var parameterSets: [[UInt8]] = []
    var lengthSize = 4
  }

  /// Parses `hvcC` (ISO/IEC 14496-15, 8.3.3.1) or `avcC` (5.3.3.1).
  ///
  /// Throws `.malformedData` for bytes that end early.
  static func parse(_ bytes: [UInt8], coding: VideoCoding) throws(MediaError) -> Content {
    var reader = ByteReader(bytes)
    return switch coding {
    case .hevc: try hevc(&reader)
    case .h264: try h264(&reader)
    }
  }

  private static func hevc(_ reader: inout ByteReader) throws(MediaError) -> Content {
    var content = Content()
    try reader.skip(21)
    content.lengthSize = Int(try reader.byte() & 3) + 1
    let arrays = try reader.byte()
    for _ in 0..<arrays {
      try reader.skip(1)
      let count = try reader.short()
      for _ in 0..<count { content.parameterSets.append(try reader.bytes(try reader.short())) }
    }
    return content
  }

  private static func h264(_ reader: inout ByteReader) throws(MediaError) -> Content {
    var content = Content()
    try reader.skip(4)
    content.lengthSize = Int(try reader.byte() & 3) + 1
    let sequences = try reader.byte() & 0x1f
    for _ in 0..<sequences { content.parameterSets.append(try reader.bytes(try reader.short())) }
    let pictures = try reader.byte()
    for _ in 0..<pictures { content.parameterSets.append(try reader.bytes(try reader.short())) }
    return content
  }
}

/// Bytes from the front of an array; reading past the end throws.
private struct ByteReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func bytes(_ count: Int) throws(MediaError) -> [UInt8] {
    guard count <= rest.count else {
      throw MediaError(.malformedData, while: .opening, "a decoder configuration record ends early")
    }
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  mutating func skip(_ count: Int) throws(MediaError) { _ = try bytes(count) }
  mutating func byte() throws(MediaError) -> UInt8 { try bytes(1)[0] }
  mutating func short() throws(MediaError) -> Int {
    let pair = try bytes(2)
    return Int(pair[0]) << 8 | Int(pair[1])
  }
}
