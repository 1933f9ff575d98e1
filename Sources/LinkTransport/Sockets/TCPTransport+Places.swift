extension TCPTransport {
  /// To a peer at its last known places, which are IP addresses, or, where there is none, a name.
  package convenience init(places: [String], port: UInt16) {
    let hosts = places.map { HostPort(host: $0, port: port) }
    let addresses = hosts.compactMap { SocketAddress($0) }
    if addresses.isEmpty, let name = hosts.first { self.init(to: name) } else { self.init(to: addresses) }
  }
}
