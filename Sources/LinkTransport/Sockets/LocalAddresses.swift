import Glibc

/// Where others may reach this host.
package enum LocalAddresses {
  /// The addresses of interfaces that are up, as texts: IPv4 before IPv6, each once. Without loopback and without
  /// link-local ones, which mean something on one link only; but where there is nothing else, loopback.
  package static func reachable() -> [String] {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return [] }
    defer { freeifaddrs(first) }
    var addresses: [SocketAddress] = []
    var next = first
    while let entry = next?.pointee {
      next = entry.ifa_next
      guard entry.ifa_flags & UInt32(IFF_UP) != 0, entry.ifa_flags & UInt32(IFF_LOOPBACK) == 0,
        let address = address(entry.ifa_addr), !address.isLinkLocal, !addresses.contains(address)
      else { continue }
      addresses.append(address)
    }
    guard !addresses.isEmpty else { return ["127.0.0.1"] }
    return (addresses.filter { !$0.isIPv6 } + addresses.filter(\.isIPv6)).map(\.hostText)
  }

  private static func address(_ pointer: UnsafeMutablePointer<sockaddr>?) -> SocketAddress? {
    guard let pointer else { return nil }
    var storage = sockaddr_storage()
    let size: Int
    switch Int32(pointer.pointee.sa_family) {
    case AF_INET: size = MemoryLayout<sockaddr_in>.size
    case AF_INET6: size = MemoryLayout<sockaddr_in6>.size
    case _: return nil
    }
    withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: size)) }
    return SocketAddress(storage)
  }
}
