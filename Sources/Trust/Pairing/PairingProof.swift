/// What each side of a pairing signs with the key that it hands over (docs/protocol.md, 11): that it has the key, and has
/// it in this very connection.
package enum PairingProof {
  package enum Role: String, Sendable { case host, agent }

  /// Under which a connection exports the bytes that both its ends have (RFC 8446, 7.5).
  package static let label = "EXPORTER-glasswing-pairing"

  /// - Parameters:
  ///   - exported: of the connection, under `label`.
  ///   - host: the key that is handed over by the host; both sides sign it.
  package static func signature(
    as role: Role, by key: SigningKey, exported: [UInt8], host: PublicKey
  ) throws(KeyError) -> [UInt8] {
    try key.signature(of: message(role, exported, host), for: .pairing)
  }

  package static func isValid(
    _ signature: [UInt8], as role: Role, by key: PublicKey, exported: [UInt8], host: PublicKey
  ) -> Bool {
    key.isValid(signature, of: message(role, exported, host), for: .pairing)
  }

  private static func message(_ role: Role, _ exported: [UInt8], _ host: PublicKey) -> [UInt8] {
    Array(role.rawValue.utf8) + [0] + exported + host.subjectPublicKeyInfo
  }
}
