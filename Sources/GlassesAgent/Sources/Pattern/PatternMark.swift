/// What a picture of the test pattern says of itself: painted by `PatternSource`, read back by `PatternReader`.
package struct PatternMark: Hashable, Sendable {
  /// The picture's number since the source began.
  package var frameNumber: UInt32
  /// The source's clock when the picture was due, in milliseconds since it began.
  package var milliseconds: UInt32

  package init(frameNumber: UInt32, milliseconds: UInt32) {
    self.frameNumber = frameNumber
    self.milliseconds = milliseconds
  }

  /// CRC-16/CCITT-FALSE (polynomial 0x1021, initial value 0xFFFF) over both numbers, each big-endian.
  package var checksum: UInt16 {
    var crc: UInt16 = 0xFFFF
    for number in [frameNumber, milliseconds] {
      for shift in [24, 16, 8, 0] as [UInt32] {
        crc ^= UInt16(truncatingIfNeeded: number >> shift & 0xFF) << 8
        for _ in 0..<8 { crc = crc & 0x8000 != 0 ? crc << 1 ^ 0x1021 : crc << 1 }
      }
    }
    return crc
  }
}

/// The machine-readable blocks as bits, row by row:
///
///     row 0     1010…10, the bright and dark levels that the reader compares with
///     rows 1, 2 frame number, most significant bit first
///     rows 3, 4 milliseconds
///     row 5     checksum
extension PatternMark {
  static let columns = 16
  static let rows = 6

  var bits: [Bool] {
    var bits = (0..<Self.columns).map { $0 % 2 == 0 }
    bits.reserveCapacity(Self.columns * Self.rows)
    for number in [frameNumber, milliseconds] {
      for bit in stride(from: UInt32(31), through: 0, by: -1) { bits.append(number >> bit & 1 == 1) }
    }
    for bit in stride(from: UInt16(15), through: 0, by: -1) { bits.append(checksum >> bit & 1 == 1) }
    return bits
  }

  /// Nil unless the first row is as it must be and the checksum agrees.
  init?(bits: [Bool]) {
    guard bits.count == Self.columns * Self.rows else { return nil }
    for column in 0..<Self.columns where bits[column] != (column % 2 == 0) { return nil }
    func number(_ range: Range<Int>) -> UInt32 { bits[range].reduce(0) { $0 << 1 | ($1 ? 1 : 0) } }
    self.init(frameNumber: number(16..<48), milliseconds: number(48..<80))
    guard number(80..<96) == UInt32(checksum) else { return nil }
  }
}
