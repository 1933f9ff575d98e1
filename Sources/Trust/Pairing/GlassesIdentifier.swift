/// Which pair of glasses: chosen at their first start, never changed, no secret. 1 to 64 letters, digits, dots, hyphens
/// and underscores of ASCII, so that it goes into a URI, a file and a name on the network as it is.
package struct GlassesIdentifier: Hashable, Sendable {
  package static let longest = 64

  package let text: String

  /// Nil unless the text is one.
  package init?(_ text: String) {
    let isValid = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    guard isValid, 1...Self.longest ~= text.utf8.count else { return nil }
    self.text = text
  }
}

extension GlassesIdentifier {
  /// `gw-` and eight hexadecimal digits.
  package init(number: UInt32) {
    let digits = String(number, radix: 16)
    text = "gw-" + String(repeating: "0", count: 8 - digits.count) + digits
  }
}

extension GlassesIdentifier: CustomStringConvertible {
  package var description: String { text }
}

extension GlassesIdentifier: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let identifier = GlassesIdentifier(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an identifier of glasses")
    }
    self = identifier
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
