/// Bytes from the front of an array; big-endian.
struct ByteReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  mutating func take(_ count: Int) throws(BitstreamError) -> [UInt8] {
    guard count >= 0, count <= bytes.count - position else { throw .truncated }
    defer { position += count }
    return Array(bytes[position..<position + count])
  }

  mutating func byte() throws(BitstreamError) -> UInt8 {
    guard position < bytes.count else { throw .truncated }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func short() throws(BitstreamError) -> Int { Int(try byte()) << 8 | Int(try byte()) }

  /// A NAL unit after its 16-bit length. Empty ones don't exist.
  mutating func unit() throws(BitstreamError) -> [UInt8] {
    let length = try short()
    guard length > 0 else { throw .outOfRange("nalUnitLength") }
    return try take(length)
  }
}

extension [UInt8] {
  /// Appends the low 16 bits, big-endian.
  mutating func append(short value: Int) {
    append(UInt8(truncatingIfNeeded: value >> 8))
    append(UInt8(truncatingIfNeeded: value))
  }
}
