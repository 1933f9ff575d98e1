import Glibc

/// The host's resolver: `/etc/hosts`, DNS, and where it is set up mDNS (`glasses.local`).
package enum NameResolver {
  /// The addresses of a host, in the order in which to try them: as the system prefers them (RFC 6724), the families in
  /// turn, so that one family that leads nowhere costs one attempt (RFC 8305, 4).
  ///
  /// Blocks for as long as the resolver takes, which can be many seconds; an address is no name and takes no time.
  package static func addresses(of hostPort: HostPort) throws(SocketFailure) -> [SocketAddress] {
    if let address = SocketAddress(hostPort) { return [address] }
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(hostPort.host, nil, &hints, &first)
    guard code == 0 else {
      throw .unknownHost(hostPort.host, text: String(cString: gai_strerror(code)))
    }
    defer { freeaddrinfo(first) }
    var found: [SocketAddress] = []
    var next = first
    while let entry = next?.pointee {
      next = entry.ai_next
      guard let address = SocketAddress(entry)?.with(port: hostPort.port), !found.contains(address) else { continue }
      found.append(address)
    }
    guard !found.isEmpty else { throw .unknownHost(hostPort.host, text: "no address") }
    return inTurn(found)
  }

  static func inTurn(_ addresses: [SocketAddress]) -> [SocketAddress] {
    guard let first = addresses.first else { return [] }
    let preferred = addresses.filter { $0.isIPv6 == first.isIPv6 }
    let others = addresses.filter { $0.isIPv6 != first.isIPv6 }
    return (0..<max(preferred.count, others.count)).flatMap { index in
      [preferred, others].compactMap { $0.indices.contains(index) ? $0[index] : nil }
    }
  }
}

extension SocketAddress {
  fileprivate init?(_ entry: addrinfo) {
    guard let address = entry.ai_addr else { return nil }
    var storage = sockaddr_storage()
    let size = min(Int(entry.ai_addrlen), MemoryLayout<sockaddr_storage>.size)
    withUnsafeMutableBytes(of: &storage) {
      $0.copyMemory(from: UnsafeRawBufferPointer(start: UnsafeRawPointer(address), count: size))
    }
    self.init(storage)
  }
}
