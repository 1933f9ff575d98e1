import Trust

/// Who this host is to glasses: its key, which never leaves the companion, and what it signs.
package struct HostIdentity: Sendable {
  package let key: SigningKey
  /// What glasses call this host.
  package let name: String
  let identity: TLSIdentity

  package init(key: SigningKey, name: String) throws(CertificateError) {
    self.key = key
    self.name = name
    let certificate = try Certificate.selfSigned(key, as: .host)
    guard let identity = TLSIdentity(key: key, certificate: certificate) else { throw .malformed }
    self.identity = identity
  }

  /// What lets an app in at all paired glasses, as long as it has the key. Nobody looks at the dates: the app makes a new
  /// key each time it starts, and keeps it nowhere.
  func certify(_ identifier: String, key appKey: PublicKey) throws(CertificateError) -> Certificate {
    try Certificate.app(identifier, key: appKey, signedBy: key, validity: .unlimited)
  }
}
