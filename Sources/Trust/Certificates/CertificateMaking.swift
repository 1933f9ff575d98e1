import COpenSSL

/// The dates in a certificate, for tools that look at them; Glasswing does not.
package struct CertificateValidity: Hashable, Sendable {
  /// Seconds since 1970-01-01 UTC.
  let start: Int64
  /// Nil: the date that says that there is none (RFC 5280, 4.1.2.5).
  let end: Int64?

  /// From 1970 and for ever.
  package static let unlimited = CertificateValidity(start: 0, end: nil)

  /// From a moment on, in seconds since 1970-01-01 UTC.
  package static func from(unixSeconds start: Int64, lasting length: Duration) -> CertificateValidity {
    let start = min(max(start, 0), latest)
    return CertificateValidity(start: start, end: min(start + min(max(length.components.seconds, 0), latest), latest))
  }

  /// The last second of the year 9998; later ones have no form in a certificate.
  private static let latest: Int64 = 253_370_764_799
}

extension Certificate {
  /// A certificate of a pair of glasses or of a host, signed by its own key. It says nothing but role and key, since
  /// glasses show theirs to whoever connects.
  package static func selfSigned(
    _ key: SigningKey, as role: CertificateRole, validity: CertificateValidity = .unlimited
  ) throws(CertificateError) -> Certificate {
    guard role != .app else { throw .appIdentifierInvalid }
    let subject = SubjectNames(role: role, pin: key.pin, identifier: nil)
    return try make(subject, of: key.publicKey, issuer: subject, signer: key, validity)
  }

  /// A certificate for an app's key, signed by the host.
  ///
  /// - Parameter identifier: the app's; 1 to 255 bytes without characters of control.
  package static func app(
    _ identifier: String, key: PublicKey, signedBy host: SigningKey, validity: CertificateValidity
  ) throws(CertificateError) -> Certificate {
    guard DisplayText.isAcceptable(identifier, longest: longestIdentifier) else { throw .appIdentifierInvalid }
    return try make(
      SubjectNames(role: .app, pin: key.pin, identifier: identifier), of: key,
      issuer: SubjectNames(role: .host, pin: host.pin, identifier: nil), signer: host, validity)
  }

  private static func make(
    _ subject: SubjectNames, of key: PublicKey, issuer: SubjectNames, signer: SigningKey,
    _ validity: CertificateValidity
  ) throws(CertificateError) -> Certificate {
    OpenSSL.clearErrors()
    defer { OpenSSL.clearErrors() }
    guard let handle = X509_new() else { throw .library(OpenSSL.takeError()) }
    var isDone = X509_set_version(handle, 2) == 1  // which means version 3
    isDone = isDone && setSerialNumber(handle)
    isDone = isDone && X509_set_pubkey(handle, key.handle) == 1
    isDone = isDone && subject.write { X509_set_subject_name(handle, $0) }
    isDone = isDone && issuer.write { X509_set_issuer_name(handle, $0) }
    isDone = isDone && setDates(handle, validity)
    isDone = isDone && addExtensions(handle, subject.role)
    isDone = isDone && addKeyIdentifiers(handle, subject: key.pin, issuer: signer.pin)
    isDone = isDone && X509_sign(handle, signer.handle, EVP_sha256()) > 0
    guard isDone else {
      X509_free(handle)
      throw .library(OpenSSL.takeError())
    }
    return try Certificate(owning: handle)
  }

  /// 127 random bits, which is positive and fits into 20 octets (RFC 5280, 4.1.2.2).
  private static func setSerialNumber(_ handle: OpaquePointer) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 16)
    guard RAND_bytes(&bytes, 16) == 1, let number = BN_bin2bn(bytes, 16, nil) else { return false }
    defer { BN_free(number) }
    BN_clear_bit(number, 127)
    return BN_to_ASN1_INTEGER(number, X509_get_serialNumber(handle)) != nil
  }

  private static func setDates(_ handle: OpaquePointer, _ validity: CertificateValidity) -> Bool {
    guard ASN1_TIME_set(X509_getm_notBefore(handle), time_t(validity.start)) != nil else { return false }
    guard let end = validity.end else {
      return ASN1_TIME_set_string(X509_getm_notAfter(handle), "99991231235959Z") == 1
    }
    return ASN1_TIME_set(X509_getm_notAfter(handle), time_t(end)) != nil
  }

  private static func addExtensions(_ handle: OpaquePointer, _ role: CertificateRole) -> Bool {
    let values: [(Int32, String)] =
      switch role {
      case .host:
        [
          (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
          (NID_key_usage, "critical,digitalSignature,keyCertSign"),
        ]
      case .agent: [(NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature")]
      case .app:
        [
          (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
          (NID_ext_key_usage, "clientAuth"),
        ]
      }
    for (kind, text) in values {
      guard let made = X509V3_EXT_conf_nid(nil, nil, kind, text) else { return false }
      defer { X509_EXTENSION_free(made) }
      guard X509_add_ext(handle, made, -1) == 1 else { return false }
    }
    return true
  }
}

extension Certificate {
  /// Which key is certified and which has signed, by their pins (RFC 7093, 2, the fourth way). Strangers' tools find an
  /// issuer by it.
  private static func addKeyIdentifiers(_ handle: OpaquePointer, subject: KeyPin, issuer: KeyPin) -> Bool {
    guard let subjectIdentifier = octets(subject.bytes) else { return false }
    defer { ASN1_OCTET_STRING_free(subjectIdentifier) }
    guard X509_add1_ext_i2d(handle, NID_subject_key_identifier, subjectIdentifier, 0, 0) == 1,
      let authority = AUTHORITY_KEYID_new()
    else { return false }
    // Frees what it holds, too.
    defer { AUTHORITY_KEYID_free(authority) }
    guard let issuerIdentifier = octets(issuer.bytes) else { return false }
    authority.pointee.keyid = issuerIdentifier
    return X509_add1_ext_i2d(handle, NID_authority_key_identifier, authority, 0, 0) == 1
  }

  private static func octets(_ bytes: [UInt8]) -> UnsafeMutablePointer<ASN1_OCTET_STRING>? {
    guard let octets = ASN1_OCTET_STRING_new() else { return nil }
    guard ASN1_OCTET_STRING_set(octets, bytes, Int32(bytes.count)) == 1 else {
      ASN1_OCTET_STRING_free(octets)
      return nil
    }
    return octets
  }
}

/// The names in a subject: OU is the role, CN the key's pin in hexadecimal digits, which is as long as a CN may be, and
/// UID an app's identifier, which may be longer.
private struct SubjectNames {
  let role: CertificateRole
  let pin: KeyPin
  let identifier: String?

  func write(_ use: (OpaquePointer) -> Int32) -> Bool {
    guard let name = X509_NAME_new() else { return false }
    defer { X509_NAME_free(name) }
    var entries = [(NID_organizationalUnitName, role.rawValue), (NID_commonName, pin.hex)]
    if let identifier { entries.append((NID_userId, identifier)) }
    for (kind, text) in entries {
      let utf8 = Array(text.utf8)
      guard X509_NAME_add_entry_by_NID(name, kind, MBSTRING_UTF8, utf8, Int32(utf8.count), -1, 0) == 1 else {
        return false
      }
    }
    return use(name) == 1
  }
}
