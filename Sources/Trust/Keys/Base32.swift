/// Base32 without padding (RFC 4648, 6) in lower case: no letter that is taken for a digit, nothing that a URI escapes.
enum Base32 {
  private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  static func text(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    var held: UInt32 = 0
    var bits = 0
    for byte in bytes {
      held = (held << 8 | UInt32(byte)) & 0xfff
      bits += 8
      while bits >= 5 {
        bits -= 5
        text.append(alphabet[Int(held >> UInt32(bits)) & 31])
      }
    }
    if bits > 0 { text.append(alphabet[Int(held << UInt32(5 - bits)) & 31]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Nil unless the text is what `text` makes of so many bytes, in either case. Bits beyond the last byte must be zero,
  /// so that no two texts mean the same bytes.
  static func bytes(_ text: String, count: Int) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count == (count * 8 + 4) / 5 else { return nil }
    var bytes: [UInt8] = []
    var held: UInt32 = 0
    var bits = 0
    for digit in digits {
      guard let value = value(of: digit) else { return nil }
      held = (held << 5 | value) & 0xfff
      bits += 5
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: held >> UInt32(bits)))
      }
    }
    guard held & ((1 << UInt32(bits)) - 1) == 0 else { return nil }
    return bytes
  }

  static func groups(_ text: String) -> String {
    let characters = Array(text)
    return stride(from: 0, to: characters.count, by: 4).map { start in
      String(characters[start..<min(start + 4, characters.count)])
    }.joined(separator: " ")
  }

  private static func value(of digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a"))
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
    case UInt8(ascii: "2")...UInt8(ascii: "7"): UInt32(digit - UInt8(ascii: "2")) + 26
    default: nil
    }
  }
}
