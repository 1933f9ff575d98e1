/// What glasses show to be paired, as a text or as a QR code: where they are, which they are, and the one-time secret.
///
///     glasswing://pair?v=1&host=192.168.1.20,fe80::1&port=7447&id=lab-3&name=Lab%20glasses&pin=BASE32&secret=BASE32
///
/// Each key stands once; `host` has one to four addresses between commas. All characters but letters, digits and
/// `-._~:,` are percent-coded (RFC 3986). Whoever reads the text can pair: it is shown to the one who asks, never logged.
package struct PairingURI: Hashable, Sendable {
  package let addresses: [HostAddress]
  package let port: UInt16
  package let device: GlassesIdentifier
  package let name: String
  /// Of the glasses' key.
  package let pin: KeyPin
  package let secret: PairingSecret

  package static let mostAddresses = 4
  /// In bytes: the longest of all its parts, percent-coded.
  package static let longest = 2048

  /// Throws what reading its text would.
  package init(
    addresses: [HostAddress], port: UInt16, device: GlassesIdentifier, name: String, pin: KeyPin, secret: PairingSecret
  ) throws(PairingURIError) {
    guard 1...Self.mostAddresses ~= addresses.count else { throw .addressCount(addresses.count) }
    if let local = addresses.first(where: { $0.zone != nil }) { throw .badValue(key: "host", local.text) }
    guard port > 0 else { throw .badValue(key: "port", "0") }
    guard DisplayText.isAcceptable(name) else { throw .badValue(key: "name", "") }
    self.addresses = addresses
    self.port = port
    self.device = device
    self.name = name
    self.pin = pin
    self.secret = secret
  }

  /// What the client puts into its handshake.
  package var offer: PairingOffer { PairingOffer(device: device, secret: secret) }

  package static func == (a: PairingURI, b: PairingURI) -> Bool {
    a.addresses == b.addresses && a.port == b.port && a.device == b.device && a.name == b.name && a.pin == b.pin
      && a.secret == b.secret
  }

  /// Without the secret, whose hash would tell of it.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(device)
    hasher.combine(pin)
  }
}

extension PairingURI: CustomStringConvertible {
  /// For logs: without the secret.
  package var description: String { "pairing with \(name) (\(device)) at \(addresses.first?.text ?? ""), port \(port)" }
}

// MARK: Text

extension PairingURI {
  private enum Key: String, CaseIterable {
    case version = "v"
    case host, port, id, name, pin, secret
  }

  private static let head = "glasswing://pair?"
  private static let version = "1"

  /// The whole URI, with the secret.
  package func revealed() -> String {
    let values: [(Key, String)] = [
      (.version, Self.version), (.host, addresses.map(\.text).joined(separator: ",")), (.port, String(port)),
      (.id, device.text), (.name, name), (.pin, pin.text), (.secret, secret.revealed()),
    ]
    return Self.head + values.map { "\($0.rawValue)=\(PercentCoding.encoded($1))" }.joined(separator: "&")
  }

  /// Reads a URI that glasses showed. White space around it, as copying brings along, is left out.
  package init(_ text: String) throws(PairingURIError) {
    guard text.utf8.count <= Self.longest else { throw .tooLong(limit: Self.longest) }
    let bare = Substring(text).trimmingWhitespace
    // Scheme and host are alike in either case (RFC 3986, 6.2.2.1).
    guard bare.prefix(Self.head.count).lowercased() == Self.head else { throw .notAPairingURI }
    let values = try Self.values(bare.dropFirst(Self.head.count))
    // Before anything that another version may do otherwise.
    let version = try Self.value(.version, values)
    guard version == Self.version else { throw .versionUnknown(PairingURIError.shown(version)) }
    for name in values.keys.sorted() where Key(rawValue: name) == nil {
      throw .unknownKey(PairingURIError.shown(name))
    }
    guard let device = GlassesIdentifier(try Self.value(.id, values)) else { throw Self.bad(.id, values) }
    guard let port = Self.port(try Self.value(.port, values)) else { throw Self.bad(.port, values) }
    guard let pin = KeyPin(text: try Self.value(.pin, values)) else { throw Self.bad(.pin, values) }
    let name = try Self.value(.name, values)
    guard DisplayText.isAcceptable(name) else { throw Self.bad(.name, values) }
    guard let secret = PairingSecret(text: try Self.value(.secret, values)) else { throw .badSecret }
    try self.init(
      addresses: try Self.addresses(try Self.value(.host, values)), port: port, device: device, name: name, pin: pin,
      secret: secret)
  }

  private static func values(_ query: Substring) throws(PairingURIError) -> [String: String] {
    var values: [String: String] = [:]
    for pair in query.split(separator: "&", omittingEmptySubsequences: false) {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty else { throw .notAPairingURI }
      let name = String(parts[0])
      guard let value = PercentCoding.decoded(parts[1]) else { throw .badCoding(key: PairingURIError.shown(name)) }
      guard values.updateValue(value, forKey: name) == nil else { throw .repeatedKey(PairingURIError.shown(name)) }
    }
    return values
  }

  private static func value(_ key: Key, _ values: [String: String]) throws(PairingURIError) -> String {
    guard let value = values[key.rawValue] else { throw .missingKey(key.rawValue) }
    return value
  }

  private static func bad(_ key: Key, _ values: [String: String]) -> PairingURIError {
    .badValue(key: key.rawValue, PairingURIError.shown(values[key.rawValue] ?? ""))
  }

  /// 1 to 65535 in digits, without sign or zeros in front.
  private static func port(_ text: String) -> UInt16? {
    guard let port = UInt16(text), port > 0, String(port) == text else { return nil }
    return port
  }

  private static func addresses(_ text: String) throws(PairingURIError) -> [HostAddress] {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count <= mostAddresses else { throw .addressCount(parts.count) }
    var addresses: [HostAddress] = []
    for part in parts {
      guard let address = HostAddress(String(part)) else {
        throw .badValue(key: Key.host.rawValue, PairingURIError.shown(String(part)))
      }
      addresses.append(address)
    }
    return addresses
  }
}

extension Substring {
  fileprivate var trimmingWhitespace: Substring {
    let start = drop(while: \.isWhitespace)
    guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return start.prefix(0) }
    return start[...last]
  }
}

/// Percent-coding of UTF-8 (RFC 3986, 2.1).
enum PercentCoding {
  static func encoded(_ text: String) -> String {
    text.utf8.reduce(into: "") { result, byte in
      if isPlain(byte) {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
  }

  /// Nil for a percent sign without two digits behind it, for bytes that are not UTF-8, and for characters that no URI
  /// has. A plus sign means itself.
  static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        guard 0x21...0x7e ~= byte else { return nil }
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else { return nil }
      bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case _: "-._~:,".utf8.contains(byte)
    }
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
