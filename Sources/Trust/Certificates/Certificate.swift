import COpenSSL

/// Whose certificate it is; in the subject as the name of a unit (OU).
package enum CertificateRole: String, Hashable, Sendable, CaseIterable {
  /// A pair of glasses, signed by itself.
  case agent
  /// A host, that is its companion, signed by itself; signs those of apps.
  case host
  /// An app on a host, signed by the host.
  case app
}

/// An X.509 certificate (RFC 5280), as far as Glasswing takes one for anything.
///
/// It carries a key into a TLS handshake and, for an app, the host's signature on its identifier. Nothing else in it is
/// trusted: whose the key is follows from pins, and dates are not looked at, as boards have no wall clock.
// Sendable: immutable once made; OpenSSL guards the counts and caches inside a certificate itself.
package final class Certificate: @unchecked Sendable {
  let handle: OpaquePointer

  package let publicKey: PublicKey
  package let role: CertificateRole
  /// Of an app only.
  package let appIdentifier: String?

  /// Longest certificate that is read, in DER. Ours have 400 to 800 bytes.
  package static let longest = 4096
  /// Longest identifier of an app in bytes of UTF-8.
  package static let longestIdentifier = 255

  package var pin: KeyPin { publicKey.pin }

  package convenience init(der: [UInt8]) throws(CertificateError) {
    OpenSSL.clearErrors()
    defer { OpenSSL.clearErrors() }
    guard der.count <= Self.longest else { throw .tooLong(limit: Self.longest) }
    guard let handle = OpenSSL.decoded(der, free: X509_free, { d2i_X509(nil, $0, $1) }) else { throw .malformed }
    try self.init(owning: handle)
  }

  /// The first certificate of a text in PEM.
  package convenience init(pem: [UInt8]) throws(CertificateError) {
    OpenSSL.clearErrors()
    defer { OpenSSL.clearErrors() }
    guard pem.count <= Self.longest * 2 else { throw .tooLong(limit: Self.longest) }
    guard let handle = OpenSSL.parsed(pem, { PEM_read_bio_X509($0, nil, { _, _, _, _ in -1 }, nil) }) else {
      throw .malformed
    }
    try self.init(owning: handle)
  }

  /// Takes the handle over, also when it throws.
  init(owning handle: OpaquePointer) throws(CertificateError) {
    do {
      let content = try CertificateContent(handle)
      self.handle = handle
      publicKey = content.publicKey
      role = content.role
      appIdentifier = content.appIdentifier
    } catch {
      X509_free(handle)
      throw error
    }
  }

  deinit { X509_free(handle) }

  package var der: [UInt8] { OpenSSL.encoded { i2d_X509(handle, $0) } ?? [] }
  package var pem: [UInt8] { OpenSSL.text { PEM_write_bio_X509($0, handle) } ?? [] }

  /// Whether this key signed it.
  package func isSigned(by key: PublicKey) -> Bool {
    OpenSSL.clearErrors()
    defer { OpenSSL.clearErrors() }
    return X509_verify(handle, key.handle) == 1
  }
}

extension Certificate: CustomStringConvertible {
  package var description: String { "certificate of \(role)\(appIdentifier.map { " \($0)" } ?? "") \(pin)" }
}

/// What is read off a certificate, and its limits.
struct CertificateContent {
  let publicKey: PublicKey
  let role: CertificateRole
  let appIdentifier: String?

  /// The handle stays its owner's.
  init(_ handle: OpaquePointer) throws(CertificateError) {
    let length = i2d_X509(handle, nil)
    guard length > 0, length <= Certificate.longest else { throw .tooLong(limit: Certificate.longest) }
    guard let publicKey = Self.publicKey(handle) else { throw .notP256 }
    guard let unit = Self.subject(handle, NID_organizationalUnitName), let role = CertificateRole(rawValue: unit) else {
      throw .roleMissing
    }
    let flags = X509_get_extension_flags(handle)
    let isAuthority = flags & UInt32(EXFLAG_CA) != 0
    guard flags & UInt32(EXFLAG_INVALID | EXFLAG_CRITICAL) == 0, isAuthority == (role == .host) else {
      throw .extensionRefused
    }
    var identifier: String?
    if role == .app {
      guard let name = Self.subject(handle, NID_userId),
        DisplayText.isAcceptable(name, longest: Certificate.longestIdentifier)
      else { throw .appIdentifierInvalid }
      identifier = name
    }
    self.publicKey = publicKey
    self.role = role
    appIdentifier = identifier
  }

  /// The key, if it is one of ours. Also for certificates of strangers, of which nothing else is wanted.
  static func publicKey(_ handle: OpaquePointer) -> PublicKey? {
    guard let key = X509_get_X509_PUBKEY(handle), let der = OpenSSL.encoded({ i2d_X509_PUBKEY(key, $0) }) else {
      return nil
    }
    return try? PublicKey(subjectPublicKeyInfo: der)
  }

  /// The one value that the subject has of a kind; nil for none, and for several, of which each reader could take
  /// another.
  private static func subject(_ handle: OpaquePointer, _ kind: Int32) -> String? {
    guard let name = X509_get_subject_name(handle) else { return nil }
    let index = X509_NAME_get_index_by_NID(name, kind, -1)
    guard index >= 0, X509_NAME_get_index_by_NID(name, kind, index) == -1,
      let entry = X509_NAME_get_entry(name, index), let value = X509_NAME_ENTRY_get_data(entry)
    else { return nil }
    var text: UnsafeMutablePointer<UInt8>?
    let length = ASN1_STRING_to_UTF8(&text, value)
    guard length >= 0, let text else { return nil }
    defer { glasswing_openssl_free(text) }
    return String(validating: UnsafeBufferPointer(start: text, count: Int(length)), as: UTF8.self)
  }
}
