/// Why a parameter set or a configuration record can't be read. For logs and tests: the C-style calls fold all into one
/// code.
package enum BitstreamError: Error, Hashable, Sendable {
  /// The bytes end before the syntax does.
  case truncated
  /// A NAL unit of another type, or of another layer than the base one.
  case unexpectedUnit
  /// A value outside what the standard allows; the name of the syntax element.
  case outOfRange(String)
}

/// Bits of a NAL unit's payload, most significant first, with the emulation prevention bytes (00 00 03) left out:
/// ITU-T H.264, 7.4.1 and 7.2; H.265, 7.4.2 and 7.2.
struct BitReader {
  private let bytes: [UInt8]
  private var position = 0

  /// - Parameter unit: the NAL unit without its header.
  init(payload unit: ArraySlice<UInt8>) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(unit.count)
    var zeros = 0
    for byte in unit {
      if zeros >= 2, byte == 3 {
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      bytes.append(byte)
    }
    self.bytes = bytes
  }

  /// u(n), up to 64 bits.
  mutating func bits(_ count: Int) throws(BitstreamError) -> UInt64 {
    guard count <= bytes.count * 8 - position else { throw .truncated }
    var value: UInt64 = 0
    var left = count
    while left > 0 {
      let available = 8 - position % 8
      let taken = min(available, left)
      let byte = UInt64(bytes[position / 8])
      value = value << taken | (byte >> (available - taken)) & (1 << taken - 1)
      position += taken
      left -= taken
    }
    return value
  }

  mutating func skip(_ count: Int) throws(BitstreamError) {
    guard count <= bytes.count * 8 - position else { throw .truncated }
    position += count
  }

  mutating func flag() throws(BitstreamError) -> Bool { try bits(1) == 1 }

  /// ue(v), 9.1 in H.264 and 9.2 in H.265. No element goes beyond 32 bits.
  mutating func unsigned() throws(BitstreamError) -> UInt32 {
    var zeros = 0
    while try !flag() {
      zeros += 1
      guard zeros <= 31 else { throw .outOfRange("Exp-Golomb code") }
    }
    // 31 zeros announce at most 2^32 - 2.
    return UInt32(truncatingIfNeeded: (UInt64(1) << zeros - 1) + (try bits(zeros)))
  }

  /// ue(v) that the standard limits.
  mutating func unsigned(_ name: String, upTo limit: UInt32) throws(BitstreamError) -> Int {
    let value = try unsigned()
    guard value <= limit else { throw .outOfRange(name) }
    return Int(value)
  }

  /// se(v), 9.1.1 in H.264.
  mutating func signed() throws(BitstreamError) -> Int {
    let code = Int(try unsigned())
    return code & 1 == 1 ? (code + 1) / 2 : -(code / 2)
  }
}

/// What both standards say of picture sizes.
enum PictureGeometry {
  /// Sample entries of files and ``CMVideoDimensions`` readers hold 16 bits (ISO/IEC 14496-12, 12.1.3).
  static let maximumEdge = 65_535

  /// Luma samples a chroma sample covers, across and down, by chroma_format_idc.
  static func subsampling(chromaFormat: Int) -> (x: Int, y: Int) {
    switch chromaFormat {
    case 1: (2, 2)
    case 2: (2, 1)
    default: (1, 1)
    }
  }

  /// What the crop leaves of an edge.
  static func cropped(_ edge: Int, by units: [Int], unit: Int) throws(BitstreamError) -> Int {
    // Each factor has at most 32 bits and the unit is at most 4: no overflow.
    let rest = edge - units.reduce(0, +) * unit
    guard rest > 0 else { throw .outOfRange("crop") }
    return rest
  }
}
