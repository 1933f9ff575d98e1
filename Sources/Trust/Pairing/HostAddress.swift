import Glibc

/// Where a machine can be reached: an IPv4 address, an IPv6 address (with a zone if need be), or a name.
package struct HostAddress: Hashable, Sendable {
  package static let longest = 253

  /// Without brackets; IP addresses in the form that the system writes.
  package let text: String

  /// Nil for anything that is none of the three.
  package init?(_ text: String) {
    guard 1...Self.longest ~= text.utf8.count, text.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else { return nil }
    if text.contains(":") {
      guard let address = Self.ipv6(text) else { return nil }
      self.text = address
    } else if let bytes = Self.bytes(text, AF_INET, count: 4) {
      self.text = bytes.map { String($0) }.joined(separator: ".")
    } else if Self.isName(text) {
      self.text = text.lowercased()
    } else {
      return nil
    }
  }

  package var isIPv6: Bool { text.contains(":") }

  /// The interface that a link-local address is on, which means something on the machine alone that says so (RFC 4007,
  /// 11).
  package var zone: Substring? { text.firstIndex(of: "%").map { text[text.index(after: $0)...] } }

  /// The bytes of an IP address, 4 or 16; nil of a name.
  package var addressBytes: [UInt8]? {
    let bare = String(text.prefix { $0 != "%" })
    return isIPv6 ? Self.bytes(bare, AF_INET6, count: 16) : Self.bytes(bare, AF_INET, count: 4)
  }

  private static func ipv6(_ text: String) -> String? {
    let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    guard let bytes = bytes(String(parts[0]), AF_INET6, count: 16) else { return nil }
    var written = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(AF_INET6, bytes, &written, socklen_t(written.count)) != nil else { return nil }
    let address = String(decoding: written.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard parts.count == 2 else { return address }
    let zone = parts[1]
    // The name of an interface as Linux takes it.
    guard 1...15 ~= zone.utf8.count, zone.allSatisfy({ $0.isLetter || $0.isNumber || "._-".contains($0) }) else {
      return nil
    }
    return "\(address)%\(zone)"
  }

  private static func bytes(_ text: String, _ family: Int32, count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return inet_pton(family, text, &bytes) == 1 ? bytes : nil
  }

  /// A name of hosts (RFC 1123, 2.1). One that ends in a number would be an address of another form.
  private static func isName(_ text: String) -> Bool {
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    guard let last = labels.last, !last.allSatisfy(\.isNumber), !last.lowercased().hasPrefix("0x") else { return false }
    return labels.allSatisfy { label in
      1...63 ~= label.utf8.count && label.first != "-" && label.last != "-"
        && label.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" }
    }
  }
}

extension HostAddress: CustomStringConvertible {
  package var description: String { text }
}

extension HostAddress: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let address = HostAddress(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "neither an address nor a name of a host")
    }
    self = address
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
