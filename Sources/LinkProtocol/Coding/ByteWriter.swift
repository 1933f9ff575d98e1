import Units

/// Appends values in network byte order.
package struct ByteWriter {
  package private(set) var bytes: [UInt8] = []

  package init(reserving capacity: Int = 64) { bytes.reserveCapacity(capacity) }

  package mutating func integer(_ value: some FixedWidthInteger) { bytes.append(bigEndian: value) }

  /// An enumeration by its raw value.
  package mutating func value<Value: RawRepresentable>(_ value: Value) where Value.RawValue: FixedWidthInteger {
    bytes.append(bigEndian: value.rawValue)
  }

  /// The bytes, cut or filled with zeros to the length.
  package mutating func fixed(_ value: [UInt8], count: Int) {
    bytes.append(contentsOf: value.prefix(count))
    bytes.append(contentsOf: repeatElement(0, count: max(0, count - value.count)))
  }

  /// Bytes after their length in 16 bits, which all fields of this kind are far below.
  package mutating func bytes(_ value: [UInt8]) {
    let kept = value.prefix(Int(UInt16.max))
    integer(UInt16(kept.count))
    bytes.append(contentsOf: kept)
  }

  /// A text after its length in bytes; one that is longer than `Text.limit` is cut between two characters.
  package mutating func text(_ value: String) {
    let utf8 = Array(Text.cut(value).utf8)
    integer(UInt16(utf8.count))
    bytes.append(contentsOf: utf8)
  }

  /// Width, height. A size that 16 bits can't hold is written as the largest they can.
  package mutating func size(_ value: PixelSize) {
    integer(UInt16(clamping: value.width))
    integer(UInt16(clamping: value.height))
  }
}

/// The rule for texts on the link.
package enum Text {
  /// Longest text in bytes of UTF-8: some forty lines, more than any reason needs.
  package static let limit = 4096

  static func cut(_ text: String) -> Substring {
    guard text.utf8.count > limit else { return text[...] }
    var kept = 0
    var end = text.startIndex
    for index in text.indices {
      let next = text.index(after: index)
      kept += text[index..<next].utf8.count
      if kept > limit { break }
      end = next
    }
    return text[..<end]
  }
}

extension [UInt8] {
  /// Appends an integer in network byte order.
  package mutating func append(bigEndian value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}
