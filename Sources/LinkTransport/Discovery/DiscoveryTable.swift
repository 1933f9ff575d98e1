import Trust

/// Glasses that somebody announces on the network. Hearsay: only a handshake proves who is there.
package struct DiscoveredGlasses: Hashable, Sendable {
  package let identifier: GlassesIdentifier
  /// As announced, for people to read.
  package var name: String
  /// Where they can be reached; never empty. IPv4 first, as more networks carry it to the end.
  package var addresses: [SocketAddress]

  package init(identifier: GlassesIdentifier, name: String, addresses: [SocketAddress]) {
    self.identifier = identifier
    self.name = name
    self.addresses = addresses
  }
}

package enum DiscoveryChange: Hashable, Sendable {
  case found(DiscoveredGlasses)
  case changed(DiscoveredGlasses)
  case lost(GlassesIdentifier)
}

/// What is announced, put together: glasses show once for each interface and family, and are one pair all the same. A
/// value, bounded, since anybody on the network can announce anything.
struct DiscoveryTable: Sendable {
  /// One announcement as the daemon tells them apart.
  struct Key: Hashable, Comparable, Sendable {
    let interface: Int32
    let family: Int32
    let name: String
    let domain: String

    static func < (a: Key, b: Key) -> Bool {
      (a.family, a.interface, a.name, a.domain) < (b.family, b.interface, b.name, b.domain)
    }
  }

  private struct Entry: Sendable {
    let identifier: GlassesIdentifier
    let address: SocketAddress
  }

  static let mostEntries = 256
  /// Of one pair of glasses; more are left out.
  static let mostAddresses = 16

  private var entries: [Key: Entry] = [:]
  private var shown: [GlassesIdentifier: DiscoveredGlasses] = [:]

  /// Where an announcement leads, again whenever that changes.
  mutating func resolved(_ key: Key, _ text: ServiceText, at address: SocketAddress) -> [DiscoveryChange] {
    guard entries[key] != nil || entries.count < Self.mostEntries else { return [] }
    let old = entries.updateValue(Entry(identifier: text.identifier, address: address), forKey: key)
    var changes: [DiscoveryChange] = []
    if let old, old.identifier != text.identifier { changes += update(old.identifier) }
    return changes + update(text.identifier)
  }

  /// It is announced no longer, or leads nowhere.
  mutating func removed(_ key: Key) -> [DiscoveryChange] {
    guard let old = entries.removeValue(forKey: key) else { return [] }
    return update(old.identifier)
  }

  mutating func removeAll() -> [DiscoveryChange] {
    entries.removeAll()
    defer { shown.removeAll() }
    return shown.keys.sorted { $0.text < $1.text }.map { .lost($0) }
  }

  var glasses: [DiscoveredGlasses] { shown.values.sorted { $0.identifier.text < $1.identifier.text } }

  private mutating func update(_ identifier: GlassesIdentifier) -> [DiscoveryChange] {
    let own = entries.filter { $0.value.identifier == identifier }.sorted { $0.key < $1.key }
    guard let first = own.first else {
      return shown.removeValue(forKey: identifier) == nil ? [] : [.lost(identifier)]
    }
    var addresses: [SocketAddress] = []
    for (_, entry) in own where addresses.count < Self.mostAddresses && !addresses.contains(entry.address) {
      addresses.append(entry.address)
    }
    let new = DiscoveredGlasses(identifier: identifier, name: first.key.name, addresses: addresses)
    let old = shown.updateValue(new, forKey: identifier)
    if old == new { return [] }
    return [old == nil ? .found(new) : .changed(new)]
  }
}
