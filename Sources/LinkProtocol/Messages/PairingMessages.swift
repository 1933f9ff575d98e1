import Units

/// Asks glasses to trust a host from now on: the first message inside the connection that a pairing's secret opened.
package struct PairingRequest: Hashable, Sendable {
  /// What people call the host.
  package var hostName: String
  /// The host's key: SubjectPublicKeyInfo in DER (RFC 5480, 2).
  package var hostKey: [UInt8]
  /// By the host's key, of what only this connection's two ends know: it shows that the sender has the key, and has it
  /// in this connection.
  package var signature: [UInt8]
  package init(hostName: String, hostKey: [UInt8], signature: [UInt8]) {
    self.hostName = hostName
    self.hostKey = hostKey
    self.signature = signature
  }
}

/// The glasses trust the host, and have written it down. Their key follows, signed as the request's is; who does not
/// pair says goodbye instead.
package struct PairingAccepted: Hashable, Sendable {
  package var agentKey: [UInt8]
  package var signature: [UInt8]
  package init(agentKey: [UInt8], signature: [UInt8]) {
    self.agentKey = agentKey
    self.signature = signature
  }
}

/// A companion parts from glasses: they forget its host, and say goodbye to all that came by it.
package struct Unpair: Hashable, Sendable {
  package init() {}
}

/// Longest key or signature that a message holds: a P-256 key has 91 bytes, its longest signature 72.
enum PairingLimits {
  static let key = 256
}
