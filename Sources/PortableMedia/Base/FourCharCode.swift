/// Four ASCII characters in one number, first character in the highest byte: `'420v'` is `0x34323076`.
public typealias FourCharCode = UInt32

/// A four-character code, by its older name.
public typealias OSType = FourCharCode

/// The code of up to four ASCII characters; constants of this module alone use it, so the length is not checked.
func code(_ characters: StaticString) -> FourCharCode {
  characters.withUTF8Buffer { $0.reduce(0) { $0 << 8 | FourCharCode($1) } }
}

/// The four characters of a code, with a dot for what can't be printed; for descriptions.
func characters(of code: FourCharCode) -> String {
  let bytes = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: code >> $0) }
  return String(decoding: bytes.map { (0x20..<0x7F).contains($0) ? $0 : 0x2E }, as: UTF8.self)
}
