import LinkProtocol
import LinkTransport
import Trust

extension TCPTransport {
  /// To glasses at their last known addresses, or, where they have only a name, at that.
  convenience init(addresses: [HostAddress], port: UInt16) {
    let known = addresses.compactMap { SocketAddress(HostPort(host: $0.text, port: port)) }
    if known.isEmpty, let name = addresses.first {
      self.init(to: HostPort(host: name.text, port: port))
    } else {
      self.init(to: known)
    }
  }
}

extension Hello {
  /// What this host's companion says of itself, to glasses and to apps.
  static func companion(_ host: HostIdentity, _ purpose: LinkPurpose) -> Hello {
    Hello(
      role: .companion, purpose: purpose, capabilities: [], identifier: host.key.pin.text, name: host.name,
      softwareVersion: "glasswing", nonce: Nonce())
  }
}
