import LinkProtocol

extension Hello {
  /// What this host's companion says of itself, to glasses and to apps.
  static func companion(_ host: HostIdentity, _ purpose: LinkPurpose) -> Hello {
    Hello(
      role: .companion, purpose: purpose, capabilities: [], identifier: host.key.pin.text, name: host.name,
      softwareVersion: "glasswing", nonce: Nonce())
  }
}
