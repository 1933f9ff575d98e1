import COpenSSL
import Testing

@testable import Trust

/// OpenSSL with settings that an engine of ours has no way to get: no certificate, one of somebody else, an old TLS.
class ForeignPeer {
  fileprivate let handle: OpaquePointer
  private let context: OpaquePointer
  private let incoming: OpaquePointer
  private let outgoing: OpaquePointer

  fileprivate init(certificate: OpaquePointer?, key: OpaquePointer?, version: Int32) throws {
    let context = try #require(SSL_CTX_new(TLS_method()))
    try #require(glasswing_ssl_ctx_set_only_version(context, version) == 1)
    let handle = try #require(SSL_new(context))
    let (incoming, outgoing) = (try #require(BIO_new(BIO_s_mem())), try #require(BIO_new(BIO_s_mem())))
    SSL_set_bio(handle, incoming, outgoing)
    if let certificate, let key {
      try #require(SSL_use_certificate(handle, certificate) == 1)
      try #require(SSL_use_PrivateKey(handle, key) == 1)
    }
    (self.context, self.handle, self.incoming, self.outgoing) = (context, handle, incoming, outgoing)
  }

  deinit {
    SSL_free(handle)
    SSL_CTX_free(context)
  }

  /// - Returns: the engine's events.
  func run(against engine: TLSEngine) -> [TLSEvent] {
    let opening = engine.start()
    var events = opening.events
    var toUs = opening.bytes
    for _ in 0..<10 {
      if !toUs.isEmpty {
        var written = 0
        BIO_write_ex(incoming, toUs, toUs.count, &written)
      }
      SSL_do_handshake(handle)
      OpenSSL.clearErrors()
      let answer = OpenSSL.drained(outgoing)
      let output = engine.receive(answer)
      events += output.events
      toUs = output.bytes
      if toUs.isEmpty && answer.isEmpty { break }
    }
    return events
  }
}

/// A private key that says that it is another's: what a thief gives to OpenSSL, which compares public halves alone, to
/// use a certificate that is not the thief's.
func disguised(_ thief: SigningKey, as victim: PublicKey) throws -> OpaquePointer {
  var der = try #require(OpenSSL.encoded { i2d_PrivateKey(thief.handle, $0) })
  // The point is the last 65 bytes of either form (RFC 5915, 3; RFC 5480, 2.2).
  try #require(der.suffix(65) == thief.publicKey.subjectPublicKeyInfo.suffix(65))
  der = der.dropLast(65) + victim.subjectPublicKeyInfo.suffix(65)
  return try #require(OpenSSL.decoded(der, free: EVP_PKEY_free) { d2i_AutoPrivateKey(nil, $0, $1) })
}

final class ForeignClient: ForeignPeer {
  init(
    certificate: OpaquePointer?, key: OpaquePointer?, offersProtocol: Bool = true, version: Int32 = TLS1_3_VERSION
  ) throws {
    try super.init(certificate: certificate, key: key, version: version)
    if offersProtocol {
      let list = ApplicationProtocols.list(TLSConfiguration.currentProtocol)
      SSL_set_alpn_protos(handle, list, UInt32(list.count))
    }
    SSL_set_connect_state(handle)
  }
}

final class ForeignServer: ForeignPeer {
  override init(certificate: OpaquePointer?, key: OpaquePointer?, version: Int32 = TLS1_3_VERSION) throws {
    try super.init(certificate: certificate, key: key, version: version)
    SSL_set_accept_state(handle)
  }
}
