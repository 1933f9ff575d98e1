import COpenSSL

/// A public key on P-256, as its SubjectPublicKeyInfo (RFC 5480, 2).
///
/// Only the one form of 91 bytes is taken, uncompressed, so that a key has one pin.
// Sendable: immutable once made; OpenSSL guards the counts and caches inside a key itself.
package final class PublicKey: @unchecked Sendable {
  let handle: OpaquePointer

  /// DER.
  package let subjectPublicKeyInfo: [UInt8]
  package let pin: KeyPin

  static let byteCount = 91

  /// Throws `KeyError.notP256` for another kind of key, a point that is not on the curve, or another form.
  package init(subjectPublicKeyInfo der: [UInt8]) throws(KeyError) {
    OpenSSL.clearErrors()
    defer { OpenSSL.clearErrors() }
    guard der.count == Self.byteCount,
      let handle = OpenSSL.decoded(der, free: EVP_PKEY_free, { d2i_PUBKEY(nil, $0, $1) })
    else { throw .notP256 }
    guard Self.isP256(handle), OpenSSL.encoded({ i2d_PUBKEY(handle, $0) }) == der else {
      EVP_PKEY_free(handle)
      throw .notP256
    }
    self.handle = handle
    subjectPublicKeyInfo = der
    pin = KeyPin(ofSubjectPublicKeyInfo: der)
  }

  deinit { EVP_PKEY_free(handle) }

  static func isP256(_ handle: OpaquePointer) -> Bool {
    guard EVP_PKEY_is_a(handle, "EC") == 1 else { return false }
    var name = [CChar](repeating: 0, count: 32)
    var length = 0
    guard EVP_PKEY_get_group_name(handle, &name, name.count, &length) == 1 else { return false }
    return OBJ_sn2nid(name) == NID_X9_62_prime256v1
  }

  /// Whether the key's owner signed these bytes for this purpose.
  package func isValid(_ signature: [UInt8], of message: [UInt8], for purpose: SignaturePurpose) -> Bool {
    OpenSSL.clearErrors()
    defer { OpenSSL.clearErrors() }
    guard signature.count <= SigningKey.longestSignature, let context = EVP_MD_CTX_new() else { return false }
    defer { EVP_MD_CTX_free(context) }
    let signed = purpose.prefix + message
    return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle) == 1
      && EVP_DigestVerify(context, signature, signature.count, signed, signed.count) == 1
  }
}

extension PublicKey: Hashable {
  package static func == (a: PublicKey, b: PublicKey) -> Bool { a.pin == b.pin }
  package func hash(into hasher: inout Hasher) { hasher.combine(pin) }
}
