import COpenSSL

/// What all connections have in common; OpenSSL's own table of settings, made once.
///
/// TLS 1.3 alone, so there is no renegotiation, no compression and no key exchange without forward secrecy. No tickets and
/// no resumption: each connection proves anew who its ends are, and a revoked key is out with the next one. No early
/// data, which could be replayed.
// Sendable: immutable once made; OpenSSL counts references to it itself.
final class TLSContext: @unchecked Sendable {
  let handle: OpaquePointer

  static let shared: Result<TLSContext, TLSError> = {
    OpenSSL.clearErrors()
    defer { OpenSSL.clearErrors() }
    guard let context = TLSContext() else {
      return .failure(TLSError(.library(OpenSSL.takeError().text), stage: .hello))
    }
    return .success(context)
  }()

  private init?() {
    guard let handle = SSL_CTX_new(TLS_method()) else { return nil }
    self.handle = handle
    // Those with SHA-256 first, by the server's choice: it is the hash that a pairing's secret is bound to.
    let ciphers = "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384"
    guard glasswing_ssl_ctx_set_only_version(handle, TLS1_3_VERSION) == 1,
      SSL_CTX_set_ciphersuites(handle, ciphers) == 1,
      glasswing_ssl_ctx_set_groups(handle, "X25519:P-256") == 1,
      glasswing_ssl_ctx_set_signatures(handle, "ECDSA+SHA256") == 1,
      SSL_CTX_set_num_tickets(handle, 0) == 1
    else { return nil }
    glasswing_ssl_ctx_set_options(handle)
    glasswing_ssl_ctx_set_no_sessions(handle)
    glasswing_ssl_ctx_set_max_cert_list(handle, TLSLimits.certificateMessage)
    TLSCallbacks.install(in: handle)
  }

  deinit { SSL_CTX_free(handle) }
}
