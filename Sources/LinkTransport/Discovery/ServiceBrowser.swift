import CAvahi
import LinkProtocol
import Synchronization
import Trust
import Units

/// Finds glasses on the network, by DNS-SD through the host's Avahi daemon. Where there is none, nothing fails and nothing is
/// found until one comes. All that is found is hearsay: a handshake proves who is there.
///
/// Ends when it is stopped or released.
package final class ServiceBrowser: Sendable {
  package enum Event: Hashable, Sendable {
    /// A daemon answers from here on.
    case available
    /// No daemon, so far or any more; whatever was found is lost.
    case unavailable
    case change(DiscoveryChange)
  }

  private let search: Search

  /// - Parameter events: in order. On a thread of libavahi's; must not block.
  package init(
    timekeeper: any Timekeeper = SystemTimekeeper.shared, events: @escaping @Sendable (Event) -> Void
  ) {
    search = Search(events: events)
    let link = AvahiLink(user: search, timekeeper: timekeeper)
    search.link.withLock { $0 = link }
    link?.begin()
  }

  deinit { stop() }

  /// Idempotent.
  package func stop() { search.link.withLock { $0.take() }?.end() }
}

/// `@unchecked Sendable`: all but `link` is touched with the lock of libavahi's loop held, and by nobody else.
private final class Search: AvahiUser, @unchecked Sendable {
  /// Between two attempts to learn where an announcement leads.
  private static let retryInterval: Duration = .seconds(5)

  /// nil once it is over.
  let link = Mutex<AvahiLink?>(nil)
  private let events: @Sendable (ServiceBrowser.Event) -> Void
  private var client: OpaquePointer?
  private var browser: OpaquePointer?
  /// Of what is announced; nil while one waits for its next attempt.
  private var resolvers: [DiscoveryTable.Key: OpaquePointer?] = [:]
  private var table = DiscoveryTable()
  private var isAvailable: Bool?

  init(events: @escaping @Sendable (ServiceBrowser.Event) -> Void) { self.events = events }

  // MARK: - The daemon

  func running(_ client: OpaquePointer) {
    self.client = client
    tell(isAvailable: true)
    guard browser == nil else { return }
    browser = avahi_service_browser_new(
      client, AvahiIfIndex(AVAHI_IF_UNSPEC), AvahiProtocol(AVAHI_PROTO_UNSPEC), ServiceType.glasswing, nil,
      AvahiLookupFlags(rawValue: 0),
      { _, interface, family, event, name, _, domain, _, context in
        guard let context else { return }
        let search = Unmanaged<Search>.fromOpaque(context).takeUnretainedValue()
        search.browsed(event, Search.key(interface, family, name, domain))
      }, Unmanaged.passUnretained(self).toOpaque())
    if browser == nil { restart() }
  }

  func paused() {}

  func lost() {
    client = nil
    browser = nil
    resolvers.removeAll()
    tell(table.removeAll())
    tell(isAvailable: false)
  }

  private func restart() { link.withLock { $0 }?.restart() }

  // MARK: - What is announced

  private func browsed(_ event: AvahiBrowserEvent, _ key: DiscoveryTable.Key?) {
    switch (event, key) {
    case (AVAHI_BROWSER_NEW, let key?):
      guard resolvers[key] == nil, resolvers.count < DiscoveryTable.mostEntries else { return }
      resolve(key)
    case (AVAHI_BROWSER_REMOVE, let key?):
      if let resolver = resolvers.removeValue(forKey: key) ?? nil { avahi_service_resolver_free(resolver) }
      tell(table.removed(key))
    case (AVAHI_BROWSER_FAILURE, _): restart()
    case _: break
    }
  }

  /// Stays, so that changes are told.
  private func resolve(_ key: DiscoveryTable.Key) {
    guard let client else { return }
    let resolver = avahi_service_resolver_new(
      client, key.interface, key.family, key.name, ServiceType.glasswing, key.domain, key.family,
      AvahiLookupFlags(rawValue: 0),
      { resolver, interface, family, event, name, _, domain, _, address, port, text, _, context in
        guard let context, let resolver, let key = Search.key(interface, family, name, domain) else { return }
        let search = Unmanaged<Search>.fromOpaque(context).takeUnretainedValue()
        if event == AVAHI_RESOLVER_FOUND, let address {
          search.resolved(key, address, port, Search.records(text))
        } else {
          search.failed(key, resolver)
        }
      }, Unmanaged.passUnretained(self).toOpaque())
    resolvers[key] = .some(resolver)
    if resolver == nil { tryAgain(key) }
  }

  private func resolved(
    _ key: DiscoveryTable.Key, _ address: UnsafePointer<AvahiAddress>, _ port: UInt16, _ records: [[UInt8]]
  ) {
    // What is no announcement of glasses that can be reached is none.
    guard let address = Self.address(address, port, on: key.interface), let text = try? ServiceText(records: records)
    else { return tell(table.removed(key)) }
    tell(table.resolved(key, text, at: address))
  }

  private func failed(_ key: DiscoveryTable.Key, _ resolver: OpaquePointer) {
    guard resolvers[key] == .some(.some(resolver)) else { return }
    avahi_service_resolver_free(resolver)
    resolvers[key] = .some(nil)
    tell(table.removed(key))
    tryAgain(key)
  }

  private func tryAgain(_ key: DiscoveryTable.Key) {
    link.withLock { $0 }?.later(Self.retryInterval) { [weak self] in
      guard let self, resolvers[key] == .some(nil) else { return }
      resolve(key)
    }
  }

  private func tell(_ changes: [DiscoveryChange]) { for change in changes { events(.change(change)) } }

  private func tell(isAvailable new: Bool) {
    guard new != isAvailable else { return }
    isAvailable = new
    events(new ? .available : .unavailable)
  }

  // MARK: - From C

  private static func key(
    _ interface: AvahiIfIndex, _ family: AvahiProtocol, _ name: UnsafePointer<CChar>?, _ domain: UnsafePointer<CChar>?
  ) -> DiscoveryTable.Key? {
    guard let name, let domain else { return nil }
    return DiscoveryTable.Key(
      interface: interface, family: family, name: String(cString: name), domain: String(cString: domain))
  }

  /// No more than a record may have, and one to show that there was more.
  private static func records(_ list: UnsafeMutablePointer<AvahiStringList>?) -> [[UInt8]] {
    var records: [[UInt8]] = []
    var next = list
    while let record = next, records.count <= ServiceText.mostRecords {
      records.append(
        Array(UnsafeBufferPointer(start: avahi_string_list_get_text(record), count: avahi_string_list_get_size(record)))
      )
      next = avahi_string_list_get_next(record)
    }
    return records
  }

  private static func address(
    _ address: UnsafePointer<AvahiAddress>, _ port: UInt16, on interface: AvahiIfIndex
  ) -> SocketAddress? {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = Int(glasswing_avahi_address(address, &bytes))
    func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
    guard port != 0 else { return nil }
    switch count {
    case 4: return SocketAddress(host: .ipv4(UInt32(truncatingIfNeeded: number(0..<4))), port: port)
    case 16:
      let (high, low) = (number(0..<8), number(8..<16))
      let bare = SocketAddress(host: .ipv6(high: high, low: low, zone: 0), port: port)
      guard bare.isLinkLocal, interface > 0 else { return bare }
      return SocketAddress(host: .ipv6(high: high, low: low, zone: UInt32(interface)), port: port)
    case _: return nil
    }
  }
}
