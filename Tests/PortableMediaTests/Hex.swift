/// The bytes of a text in hexadecimal; anything else in it is skipped.
func bytes(_ hex: String) -> [UInt8] {
  let digits = hex.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// Writes bits as the standards' syntax tables do, to make parameter sets that no encoder at hand writes.
struct BitWriter {
  private var bits: [Bool] = []

  mutating func put(_ value: UInt64, bits count: Int) {
    for shift in stride(from: count - 1, through: 0, by: -1) { bits.append(value >> UInt64(shift) & 1 == 1) }
  }

  mutating func flag(_ value: Bool) { bits.append(value) }

  /// ue(v)
  mutating func unsigned(_ value: UInt64) {
    let length = UInt64.bitWidth - (value + 1).leadingZeroBitCount
    put(0, bits: length - 1)
    put(value + 1, bits: length)
  }

  /// se(v)
  mutating func signed(_ value: Int) { unsigned(value > 0 ? UInt64(2 * value - 1) : UInt64(-2 * value)) }

  /// With the stop bit, and emulation prevention bytes where two zeros would be followed by 0 to 3.
  func unit(header: [UInt8]) -> [UInt8] {
    var padded = bits + [true]
    while padded.count % 8 != 0 { padded.append(false) }
    var unit = header
    var zeros = 0
    for start in stride(from: 0, to: padded.count, by: 8) {
      let byte = padded[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
      if zeros >= 2, byte <= 3 {
        unit.append(3)
        zeros = 0
      }
      zeros = byte == 0 ? zeros + 1 : 0
      unit.append(byte)
    }
    return unit
  }
}
