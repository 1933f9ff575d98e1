import Units

/// Takes values in network byte order off a peer's bytes. Every read names its field, for the error that says what is
/// wrong with it.
package struct ByteReader {
  private let bytes: [UInt8]
  private var position: Int

  package init(_ bytes: [UInt8], from position: Int = 0) {
    self.bytes = bytes
    self.position = position
  }

  package var remaining: Int { bytes.count - position }

  package mutating func integer<Value: FixedWidthInteger>(
    _ field: String, as type: Value.Type = Value.self
  ) throws(LinkProtocolError) -> Value {
    let size = MemoryLayout<Value>.size
    guard remaining >= size else { throw LinkProtocolError(.truncated(field: field), stage: .decoding) }
    var value: Value = 0
    for index in position..<position + size { value = value << 8 | Value(truncatingIfNeeded: bytes[index]) }
    position += size
    return value
  }

  /// A value of a closed enumeration: one that this version does not know is an error.
  package mutating func value<Value: RawRepresentable>(
    _ field: String, as type: Value.Type = Value.self
  ) throws(LinkProtocolError) -> Value where Value.RawValue: FixedWidthInteger {
    let raw: Value.RawValue = try integer(field)
    guard let value = Value(rawValue: raw) else {
      throw LinkProtocolError(.badValue(field: field, value: UInt64(truncatingIfNeeded: raw)), stage: .decoding)
    }
    return value
  }

  /// A value of an open enumeration: one that this version does not know reads as `other`.
  package mutating func value<Value: RawRepresentable>(
    _ field: String, else other: Value
  ) throws(LinkProtocolError) -> Value where Value.RawValue: FixedWidthInteger {
    let raw: Value.RawValue = try integer(field)
    return Value(rawValue: raw) ?? other
  }

  /// A number that is never 0: an identity, a count, a side of a picture.
  package mutating func positive<Value: FixedWidthInteger>(
    _ field: String, as type: Value.Type = Value.self
  ) throws(LinkProtocolError) -> Value {
    let value: Value = try integer(field)
    guard value > 0 else {
      throw LinkProtocolError(.badValue(field: field, value: UInt64(truncatingIfNeeded: value)), stage: .decoding)
    }
    return value
  }

  package mutating func fixed(_ count: Int, _ field: String) throws(LinkProtocolError) -> [UInt8] {
    guard count >= 0, remaining >= count else { throw LinkProtocolError(.truncated(field: field), stage: .decoding) }
    defer { position += count }
    return Array(bytes[position..<position + count])
  }

  /// Bytes after their length in 16 bits.
  package mutating func bytes(_ field: String, atMost limit: Int) throws(LinkProtocolError) -> [UInt8] {
    let length = Int(try integer(field, as: UInt16.self))
    guard length <= limit else {
      throw LinkProtocolError(.badValue(field: field, value: UInt64(length)), stage: .decoding)
    }
    return try fixed(length, field)
  }

  package mutating func text(_ field: String) throws(LinkProtocolError) -> String {
    let length = Int(try integer(field, as: UInt16.self))
    guard length <= Text.limit else {
      throw LinkProtocolError(.badValue(field: field, value: UInt64(length)), stage: .decoding)
    }
    let utf8 = try fixed(length, field)
    guard let text = String(validating: utf8, as: UTF8.self) else {
      throw LinkProtocolError(.badText(field: field), stage: .decoding)
    }
    return text
  }

  package mutating func size(_ field: String) throws(LinkProtocolError) -> PixelSize {
    let width = try positive(field, as: UInt16.self)
    let height = try positive(field, as: UInt16.self)
    return PixelSize(width: Int(width), height: Int(height))
  }
}
