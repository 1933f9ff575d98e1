/// Bits of a raw byte sequence payload, most significant first (ITU-T H.265, 7.2 and 9.2). Reading past the end throws.
struct BitReader {
  private let bytes: [UInt8]
  private var position = 0

  /// A reader for a NAL unit's payload, from which the emulation prevention bytes (00 00 03) are taken out.
  init(unescaping payload: some Sequence<UInt8>) {
    var plain: [UInt8] = []
    var zeros = 0
    for byte in payload {
      if zeros >= 2, byte == 3 {
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      plain.append(byte)
    }
    bytes = plain
  }

  /// Up to 32 bits as an unsigned number.
  mutating func bits(_ count: Int) throws(MediaError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<count {
      guard position < bytes.count * 8 else { throw Self.tooShort }
      let bit = bytes[position / 8] >> UInt8(7 - position % 8) & 1
      value = value << 1 | UInt32(bit)
      position += 1
    }
    return value
  }

  mutating func flag() throws(MediaError) -> Bool { try bits(1) == 1 }

  mutating func skip(_ count: Int) throws(MediaError) {
    guard count <= bytes.count * 8 - position else { throw Self.tooShort }
    position += count
  }

  /// ue(v): an unsigned Exp-Golomb code, below 2^32 - 1.
  mutating func exponentialGolomb() throws(MediaError) -> UInt32 {
    var zeros = 0
    while try bits(1) == 0 {
      zeros += 1
      guard zeros < 32 else { throw MediaError(.malformedData, while: .reading, "an Exp-Golomb code is too long") }
    }
    return try (1 << UInt32(zeros)) - 1 + bits(zeros)
  }

  private static let tooShort = MediaError(.malformedData, while: .reading, "a parameter set is too short")
}
