/// Where to connect to or listen, as people write it: `192.168.1.7:7000`, `glasses.local:7000`, `[fe80::1%eth0]:7000`.
package struct HostPort: Hashable, Sendable {
  /// A name or an address, without brackets.
  package let host: String
  package let port: UInt16

  /// Most bytes of a host: the limit for names (RFC 1035, 2.3.4).
  private static let hostLimit = 255

  package init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// nil unless the text is a host and a port. An IPv6 address needs its brackets, else its end could be the port.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")) else { return nil }
    var host = bytes[..<colon]
    let isBracketed = host.first == UInt8(ascii: "[") && host.last == UInt8(ascii: "]") && host.count > 2
    if isBracketed { host = host.dropFirst().dropLast() }
    guard !host.isEmpty, host.count <= Self.hostLimit, host.contains(UInt8(ascii: ":")) == isBracketed,
      host.allSatisfy(Self.isPlain), let port = Self.port(bytes[(colon + 1)...])
    else { return nil }
    self.init(host: String(decoding: host, as: UTF8.self), port: port)
  }

  /// What names, addresses and zones are made of; no blanks, controls or brackets.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
      UInt8(ascii: ":"), UInt8(ascii: "%"):
      true
    default: false
    }
  }

  /// Digits only: `UInt16` itself would take a sign.
  private static func port(_ digits: ArraySlice<UInt8>) -> UInt16? {
    guard (1...5).contains(digits.count),
      digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    return UInt16(String(decoding: digits, as: UTF8.self))
  }
}

extension HostPort: CustomStringConvertible {
  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
