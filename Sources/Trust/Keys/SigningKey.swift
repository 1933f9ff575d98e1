import COpenSSL

/// What a signature is for. It is part of what is signed, so that no signature can be shown as one for something else:
/// not as another of these, and not as one of TLS or of a certificate, which begin with other bytes (RFC 8446, 4.4.3;
/// RFC 5280, 4.1).
package enum SignaturePurpose: String, Hashable, Sendable, CaseIterable {
  /// What an app may do with glasses.
  case grant = "glasswing grant 1"
  /// The key that pairing hands over, bound to the pairing's connection.
  case pairing = "glasswing pairing 1"

  var prefix: [UInt8] { Array(rawValue.utf8) + [0] }
}

/// A private key on P-256 (FIPS 186-5): of glasses, of a host, or of an app. Signs by ECDSA with SHA-256.
///
/// Any thread. It prints its public half only.
// Sendable: immutable once made; OpenSSL guards the counts and caches inside a key itself.
package final class SigningKey: @unchecked Sendable {
  let handle: OpaquePointer

  package let publicKey: PublicKey

  /// Longest ECDSA signature in DER: two integers of 33 bytes, their heads, and the sequence's.
  static let longestSignature = 72

  /// A new key from the system's random numbers.
  package convenience init() throws(KeyError) {
    OpenSSL.clearErrors()
    guard let handle = glasswing_p256_generate() else { throw .library(OpenSSL.takeError()) }
    try self.init(owning: handle)
  }

  /// A key in PEM (PKCS #8, RFC 5958, or SEC 1), without password.
  package convenience init(pem: [UInt8]) throws(KeyError) {
    OpenSSL.clearErrors()
    defer { OpenSSL.clearErrors() }
    guard pem.count <= KeyFile.longest else { throw .tooLong(limit: KeyFile.longest) }
    guard let handle = OpenSSL.parsed(pem, { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }) else {
      throw .notAKey
    }
    try self.init(owning: handle)
  }

  /// Takes the handle over, also when it throws.
  private init(owning handle: OpaquePointer) throws(KeyError) {
    guard PublicKey.isP256(handle), let der = OpenSSL.encoded({ i2d_PUBKEY(handle, $0) }),
      let publicKey = try? PublicKey(subjectPublicKeyInfo: der)
    else {
      EVP_PKEY_free(handle)
      throw .notP256
    }
    self.handle = handle
    self.publicKey = publicKey
  }

  deinit { EVP_PKEY_free(handle) }

  package var pin: KeyPin { publicKey.pin }

  /// The private key itself, in PEM.
  func pem() throws(KeyError) -> [UInt8] {
    OpenSSL.clearErrors()
    guard let text = OpenSSL.text({ PEM_write_bio_PrivateKey($0, handle, nil, nil, 0, nil, nil) }) else {
      throw .library(OpenSSL.takeError())
    }
    return text
  }

  /// A signature in DER (RFC 3279, 2.2.3).
  package func signature(of message: [UInt8], for purpose: SignaturePurpose) throws(KeyError) -> [UInt8] {
    OpenSSL.clearErrors()
    let signed = purpose.prefix + message
    guard let context = EVP_MD_CTX_new() else { throw .library(OpenSSL.takeError()) }
    defer { EVP_MD_CTX_free(context) }
    var isDone = EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle) == 1
    let signature = [UInt8](unsafeUninitializedCapacity: Self.longestSignature) { buffer, count in
      var length = Self.longestSignature
      isDone = isDone && EVP_DigestSign(context, buffer.baseAddress, &length, signed, signed.count) == 1
      count = isDone ? length : 0
    }
    guard isDone else { throw .library(OpenSSL.takeError()) }
    return signature
  }
}

extension SigningKey: CustomStringConvertible, CustomReflectable {
  package var description: String { "private key of \(pin)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
