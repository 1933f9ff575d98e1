import COpenSSL

/// OpenSSL's half of an engine: a connection between two memories. Each method is one thing that OpenSSL does.
final class TLSConnection {
  let handle: OpaquePointer
  private let incoming: OpaquePointer
  private let outgoing: OpaquePointer
  /// The callbacks find it through the handle, which does not hold it.
  private let handshake: TLSHandshake

  init(_ handshake: TLSHandshake, isServer: Bool) throws(TLSError) {
    OpenSSL.clearErrors()
    let context = try TLSContext.shared.get()
    guard let handle = SSL_new(context.handle) else {
      throw TLSError(.library(OpenSSL.takeError().text), stage: .hello)
    }
    guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
      SSL_free(handle)
      throw TLSError(.library(OpenSSL.takeError().text), stage: .hello)
    }
    // From here on the handle owns both memories.
    SSL_set_bio(handle, incoming, outgoing)
    self.handle = handle
    self.incoming = incoming
    self.outgoing = outgoing
    self.handshake = handshake
    let place = Unmanaged.passUnretained(handshake).toOpaque()
    guard SSL_set_ex_data(handle, TLSCallbacks.ownersPlace, place) == 1, configure(handshake.configuration) else {
      throw TLSError(.library(OpenSSL.takeError().text), stage: .hello)
    }
    if isServer { SSL_set_accept_state(handle) } else { SSL_set_connect_state(handle) }
  }

  deinit { SSL_free(handle) }

  private func configure(_ configuration: TLSConfiguration) -> Bool {
    // Both ends always ask; without a certificate a server ends the handshake. Who asks is answered by our own check.
    SSL_set_verify(handle, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    switch configuration.authentication {
    case .agent(let identity, let hosts, _):
      // Asked for wherever a server that checks certificates meets a pre-shared key, which OpenSSL takes for a session.
      guard SSL_set_session_id_context(handle, Array("glasswing".utf8), 9) == 1 else { return false }
      // Not even ready to be shown when nobody could answer it.
      return hosts.isEmpty || use(identity)
    case .client(let identity, _):
      return use(identity) && offer(configuration.applicationProtocol)
    case .pairing:
      return offer(configuration.applicationProtocol)
    }
  }

  private func use(_ identity: TLSIdentity) -> Bool {
    SSL_use_certificate(handle, identity.certificate.handle) == 1
      && SSL_use_PrivateKey(handle, identity.key.handle) == 1
  }

  private func offer(_ name: String) -> Bool {
    let list = ApplicationProtocols.list(name)
    return SSL_set_alpn_protos(handle, list, UInt32(list.count)) == 0  // which is its success
  }

  /// False when there is no memory.
  func take(_ bytes: ArraySlice<UInt8>) -> Bool {
    var written = 0
    return bytes.withUnsafeBufferPointer { BIO_write_ex(incoming, $0.baseAddress, $0.count, &written) } == 1
      && written == bytes.count
  }

  func takeOutgoing() -> [UInt8] { OpenSSL.drained(outgoing) }

  func write(_ bytes: [UInt8]) -> Bool {
    var written = 0
    return SSL_write_ex(handle, bytes, bytes.count, &written) == 1 && written == bytes.count
  }

  /// Sends `close_notify`.
  func sayDone() { SSL_shutdown(handle) }

  var applicationProtocol: [UInt8] {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(handle, &name, &count)
    return Array(UnsafeBufferPointer(start: name, count: Int(count)))
  }

  /// Of the key whose possession the peer has proved.
  var peerPin: KeyPin? {
    guard let certificate = SSL_get0_peer_certificate(handle) else { return nil }
    return CertificateContent.publicKey(certificate)?.pin
  }

  func exportedKey(_ label: String, count: Int) -> [UInt8]? {
    var key = [UInt8](repeating: 0, count: count)
    let text = Array(label.utf8CString)
    guard SSL_export_keying_material(handle, &key, count, text, text.count - 1, nil, 0, 0) == 1 else { return nil }
    return key
  }

  /// How far the handshake is, or was when it failed.
  var stage: TLSError.Stage {
    switch SSL_get_state(handle) {
    case TLS_ST_CR_CERT, TLS_ST_CR_CERT_VRFY, TLS_ST_CR_CERT_REQ, TLS_ST_SR_CERT, TLS_ST_SR_CERT_VRFY,
      TLS_ST_CW_CERT, TLS_ST_CW_CERT_VRFY, TLS_ST_SW_CERT, TLS_ST_SW_CERT_VRFY, TLS_ST_SW_CERT_REQ:
      return .certificate
    case TLS_ST_CR_FINISHED, TLS_ST_SR_FINISHED, TLS_ST_CW_FINISHED, TLS_ST_SW_FINISHED: return .finished
    default: return .hello
    }
  }
}
