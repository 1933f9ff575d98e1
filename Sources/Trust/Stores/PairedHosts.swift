/// The hosts that a pair of glasses trusts: its only authorities.
package struct PairedHosts: StoreContent {
  package static let longest = 65_536
  /// Each is tried in a handshake with an app, so they are few.
  package static let most = 16

  package struct Host: Codable, Hashable, Sendable {
    package let name: String
    package let key: PublicKey

    /// Nil for a name that can't be shown.
    package init?(name: String, key: PublicKey) {
      guard DisplayText.isAcceptable(name) else { return nil }
      self.name = name
      self.key = key
    }

    package init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      let name = try container.decode(String.self, forKey: .name)
      guard let host = Host(name: name, key: try container.decode(PublicKey.self, forKey: .key)) else {
        throw DecodingError.dataCorruptedError(forKey: .name, in: container, debugDescription: "not a usable name")
      }
      self = host
    }
  }

  package private(set) var hosts: [Host] = []

  package init() {}

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let hosts = try container.decode([Host].self, forKey: .hosts)
    guard hosts.count <= Self.most, Set(hosts.map(\.key)).count == hosts.count else {
      throw DecodingError.dataCorruptedError(
        forKey: .hosts, in: container, debugDescription: "more than \(Self.most) hosts, or one twice")
    }
    self.hosts = hosts
  }

  package var keys: [PublicKey] { hosts.map(\.key) }

  /// Adds a host, or gives a known one its new name. False when there are too many.
  package mutating func add(_ host: Host) -> Bool {
    if let index = hosts.firstIndex(where: { $0.key == host.key }) {
      hosts[index] = host
      return true
    }
    guard hosts.count < Self.most else { return false }
    hosts.append(host)
    return true
  }

  /// False when it was not there.
  package mutating func remove(_ pin: KeyPin) -> Bool {
    let count = hosts.count
    hosts.removeAll { $0.key.pin == pin }
    return hosts.count < count
  }
}

extension PublicKey: Codable {
  package convenience init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let bytes = Base32.bytes(text, count: Self.byteCount),
      (try? PublicKey(subjectPublicKeyInfo: bytes)) != nil
    else { throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a public key on P-256") }
    try self.init(subjectPublicKeyInfo: bytes)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Base32.text(subjectPublicKeyInfo))
  }
}
