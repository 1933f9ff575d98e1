import Glibc

/// An IP address and a port.
///
/// An IPv4 address that comes in the clothes of IPv6 (`::ffff:192.0.2.1`), as it does on a socket that takes both, is the
/// IPv4 address, so that one peer has one address.
package struct SocketAddress: Hashable, Sendable {
  package enum Host: Hashable, Sendable {
    /// In the order of its text: `0x7f000001` is 127.0.0.1.
    case ipv4(UInt32)
    /// The first and the last eight bytes; the zone is the interface's number on this host, 0 where the address needs
    /// none.
    case ipv6(high: UInt64, low: UInt64, zone: UInt32)
  }

  package let host: Host
  package let port: UInt16

  package init(host: Host, port: UInt16) {
    if case .ipv6(0, let low, _) = host, low >> 32 == 0xffff {
      self.host = .ipv4(UInt32(truncatingIfNeeded: low))
    } else {
      self.host = host
    }
    self.port = port
  }

  /// `192.0.2.1:7000`, `[2001:db8::1]:7000`, `[fe80::1%eth0]:7000`; nil for names, and for zones that are no interface of
  /// this host.
  package init?(_ text: String) {
    guard let hostPort = HostPort(text) else { return nil }
    self.init(hostPort)
  }

  /// nil where the host is a name.
  package init?(_ hostPort: HostPort) {
    guard let host = Self.ipv4(hostPort.host) ?? Self.ipv6(hostPort.host) else { return nil }
    self.init(host: host, port: hostPort.port)
  }

  package var isIPv6: Bool { if case .ipv6 = host { true } else { false } }

  /// fe80::/10: means something on one interface only.
  package var isLinkLocal: Bool { if case .ipv6(let high, _, _) = host { high >> 54 == 0xfe80 >> 6 } else { false } }

  /// 127.0.0.0/8 and ::1.
  package var isLoopback: Bool {
    switch host {
    case .ipv4(let value): value >> 24 == 127
    case .ipv6(let high, let low, _): high == 0 && low == 1
    }
  }

  package func with(port: UInt16) -> SocketAddress { SocketAddress(host: host, port: port) }

  private static func ipv4(_ text: String) -> Host? {
    var address = in_addr()
    guard inet_pton(AF_INET, text, &address) == 1 else { return nil }
    return .ipv4(UInt32(bigEndian: address.s_addr))
  }

  private static func ipv6(_ text: String) -> Host? {
    let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, let zone = parts.count == 2 ? Self.zone(String(parts[1])) : 0 else { return nil }
    var address = in6_addr()
    guard inet_pton(AF_INET6, String(first), &address) == 1 else { return nil }
    return host(address, zone: zone)
  }

  private static func zone(_ text: String) -> UInt32? {
    if let first = text.utf8.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) { return UInt32(text) }
    let index = if_nametoindex(text)
    return index == 0 ? nil : index
  }

  private static func host(_ address: in6_addr, zone: UInt32) -> Host {
    withUnsafeBytes(of: address) { bytes in
      .ipv6(
        high: UInt64(bigEndian: bytes.load(fromByteOffset: 0, as: UInt64.self)),
        low: UInt64(bigEndian: bytes.load(fromByteOffset: 8, as: UInt64.self)), zone: zone)
    }
  }
}

extension SocketAddress: CustomStringConvertible {
  package var description: String { "\(HostPort(host: hostText, port: port))" }

  /// Without brackets and port.
  package var hostText: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    switch host {
    case .ipv4(let value):
      var address = in_addr(s_addr: value.bigEndian)
      inet_ntop(AF_INET, &address, &text, socklen_t(text.count))
      return Self.string(text)
    case .ipv6(let high, let low, let zone):
      var address = Self.address(high, low)
      inet_ntop(AF_INET6, &address, &text, socklen_t(text.count))
      return Self.string(text) + (zone == 0 ? "" : "%\(Self.name(ofZone: zone))")
    }
  }

  private static func name(ofZone zone: UInt32) -> String {
    var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
    // An interface that is gone has only its number left.
    return if_indextoname(zone, &name) == nil ? "\(zone)" : string(name)
  }

  private static func string(_ text: [CChar]) -> String {
    String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func address(_ high: UInt64, _ low: UInt64) -> in6_addr {
    var address = in6_addr()
    withUnsafeMutableBytes(of: &address) { bytes in
      bytes.storeBytes(of: high.bigEndian, toByteOffset: 0, as: UInt64.self)
      bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    return address
  }
}

// MARK: - As the system has it

extension SocketAddress {
  var system: SystemAddress {
    switch host {
    case .ipv4(let value):
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr = in_addr(s_addr: value.bigEndian)
      return SystemAddress(address, family: AF_INET, text: description)
    case .ipv6(let high, let low, let zone):
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      address.sin6_addr = Self.address(high, low)
      address.sin6_scope_id = zone
      return SystemAddress(address, family: AF_INET6, text: description)
    }
  }

  /// nil where it is of another family.
  init?(_ storage: sockaddr_storage) {
    switch Int32(storage.ss_family) {
    case AF_INET:
      let address = withUnsafeBytes(of: storage) { $0.load(as: sockaddr_in.self) }
      self.init(host: .ipv4(UInt32(bigEndian: address.sin_addr.s_addr)), port: UInt16(bigEndian: address.sin_port))
    case AF_INET6:
      let address = withUnsafeBytes(of: storage) { $0.load(as: sockaddr_in6.self) }
      self.init(
        host: Self.host(address.sin6_addr, zone: address.sin6_scope_id), port: UInt16(bigEndian: address.sin6_port))
    default: return nil
    }
  }
}
