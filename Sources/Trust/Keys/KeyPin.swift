/// What a key is known by: SHA-256 of its SubjectPublicKeyInfo (RFC 5280, 4.1.2.7; pinned this way by RFC 7469, 2.4).
///
/// It does not change with the certificate, its dates or its names.
package struct KeyPin: Hashable, Sendable {
  package static let byteCount = 32

  package let bytes: [UInt8]

  /// Nil unless these are 32 bytes.
  package init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  init(ofSubjectPublicKeyInfo der: [UInt8]) { bytes = OpenSSL.sha256(der) }

  /// 52 characters of base32, for a URI or a file.
  package var text: String { Base32.text(bytes) }

  /// In thirteen groups of four, for people who compare two.
  package var groups: String { Base32.groups(text) }

  /// 64 hexadecimal digits: what `openssl` and a certificate's name say.
  package var hex: String {
    bytes.reduce(into: "") { text, byte in
      text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
  }

  /// Takes `text` and `groups`, in either case; nil for anything else.
  package init?(text: String) {
    guard let bytes = Base32.bytes(text.filter { $0 != " " && $0 != "-" }, count: Self.byteCount) else { return nil }
    self.bytes = bytes
  }
}

extension KeyPin: CustomStringConvertible {
  package var description: String { groups }
}

extension KeyPin: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let pin = KeyPin(text: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a pin of 52 base32 characters")
    }
    self = pin
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
