import COpenSSL

/// The functions that OpenSSL calls during a handshake: each finds the connection's `TLSHandshake`, asks it, and
/// translates. None of them keeps anything.
enum TLSCallbacks {
  /// The place in a connection that is reserved for its owner's own.
  static let ownersPlace: Int32 = 0

  static func install(in context: OpaquePointer) {
    // By the type's name, since a function of C captures nothing.
    SSL_CTX_set_client_hello_cb(context, { connection, alert, _ in TLSCallbacks.lookAtHello(connection, alert) }, nil)
    SSL_CTX_set_alpn_select_cb(
      context,
      { connection, selected, selectedCount, offered, offeredCount, _ in
        TLSCallbacks.selectProtocol(connection, selected, selectedCount, offered, offeredCount)
      }, nil)
    SSL_CTX_set_cert_verify_callback(context, { store, _ in TLSCallbacks.verify(store) }, nil)
    SSL_CTX_set_psk_find_session_callback(context) { TLSCallbacks.findSecret($0, $1, $2, $3) }
    SSL_CTX_set_psk_use_session_callback(context) { TLSCallbacks.useSecret($0, $1, $2, $3, $4) }
    SSL_CTX_set_info_callback(context) { TLSCallbacks.noteAlert($0, $1, $2) }
  }

  private static func noteAlert(_ connection: OpaquePointer?, _ what: Int32, _ value: Int32) {
    guard what & SSL_CB_READ_ALERT == SSL_CB_READ_ALERT else { return }
    handshake(connection)?.alert = UInt8(truncatingIfNeeded: value)
  }

  private static func handshake(_ connection: OpaquePointer?) -> TLSHandshake? {
    guard let connection, let place = SSL_get_ex_data(connection, ownersPlace) else { return nil }
    return Unmanaged<TLSHandshake>.fromOpaque(place).takeUnretainedValue()
  }

  private static func lookAtHello(_ connection: OpaquePointer?, _ alert: UnsafeMutablePointer<Int32>?) -> Int32 {
    guard let handshake = handshake(connection) else { return SSL_CLIENT_HELLO_ERROR }
    // An older client is told so by OpenSSL.
    guard extensionBytes(connection, TLSEXT_TYPE_supported_versions) != nil else { return SSL_CLIENT_HELLO_SUCCESS }
    let names = extensionBytes(connection, TLSEXT_TYPE_application_layer_protocol_negotiation)
    let namesSecret = extensionBytes(connection, TLSEXT_TYPE_psk) != nil
    guard let refusal = handshake.lookAtHello(names: names, namesSecret: namesSecret) else {
      return SSL_CLIENT_HELLO_SUCCESS
    }
    alert?.pointee = Int32(refusal)
    return SSL_CLIENT_HELLO_ERROR
  }

  private static func extensionBytes(_ connection: OpaquePointer?, _ kind: Int32) -> [UInt8]? {
    var bytes: UnsafePointer<UInt8>?
    var count = 0
    guard SSL_client_hello_get0_ext(connection, UInt32(kind), &bytes, &count) == 1 else { return nil }
    return Array(UnsafeBufferPointer(start: bytes, count: count))
  }

  /// Ours; that the client offers it was seen with its hello.
  private static func selectProtocol(
    _ connection: OpaquePointer?, _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ selectedCount: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32
  ) -> Int32 {
    guard let handshake = handshake(connection), let offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    let name = Array(handshake.configuration.applicationProtocol.utf8)
    let all = UnsafeBufferPointer(start: offered, count: Int(offeredCount))
    var position = 0
    while position < all.count {
      let start = position + 1
      let end = start + Int(all[position])
      guard end <= all.count else { break }
      if all[start..<end].elementsEqual(name) {
        // Into the client's list, from where OpenSSL copies it.
        selected?.pointee = offered + start
        selectedCount?.pointee = all[position]
        return SSL_TLSEXT_ERR_OK
      }
      position = end
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
  }

  private static func verify(_ store: OpaquePointer?) -> Int32 {
    guard let store else { return 0 }
    let place = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())
    guard let place, let handshake = handshake(OpaquePointer(place)) else {
      X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
      return 0
    }
    let chain = X509_STORE_CTX_get0_untrusted(store)
    let count = chain.map { Int(OPENSSL_sk_num($0)) } ?? 0
    let reason = handshake.check(leaf: X509_STORE_CTX_get0_cert(store), chainCount: count)
    X509_STORE_CTX_set_error(store, reason ?? X509_V_OK)
    return reason == nil ? 1 : 0
  }

  private static func findSecret(
    _ connection: OpaquePointer?, _ identity: UnsafePointer<UInt8>?, _ identityCount: Int,
    _ session: UnsafeMutablePointer<OpaquePointer?>?
  ) -> Int32 {
    guard let handshake = handshake(connection), let session else { return 0 }
    let named = Array(UnsafeBufferPointer(start: identity, count: identityCount))
    session.pointee = makeSession(connection, handshake.secret(for: named))
    return session.pointee == nil ? 0 : 1
  }

  private static func useSecret(
    _ connection: OpaquePointer?, _ digest: OpaquePointer?, _ identity: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ identityCount: UnsafeMutablePointer<Int>?, _ session: UnsafeMutablePointer<OpaquePointer?>?
  ) -> Int32 {
    session?.pointee = nil
    guard let handshake = handshake(connection) else { return 0 }
    // On the second round, where the server has chosen a hash, the secret is no use unless it is ours; the connection
    // then fails for not having used it.
    guard digest == nil || EVP_MD_is_a(digest, "SHA256") == 1, let (name, secret) = handshake.ownSecret() else {
      return 1
    }
    guard let made = makeSession(connection, secret) else { return 0 }
    identity?.pointee = UnsafePointer(name.baseAddress)
    identityCount?.pointee = name.count
    session?.pointee = made
    return 1
  }

  /// A pre-shared key in the form that OpenSSL wants, which takes it over.
  private static func makeSession(_ connection: OpaquePointer?, _ secret: PairingSecret) -> OpaquePointer? {
    let identifier: [UInt8] = [0x13, 0x01]  // TLS_AES_128_GCM_SHA256: its hash is the secret's
    guard let cipher = SSL_CIPHER_find(connection, identifier), let session = SSL_SESSION_new() else { return nil }
    let isDone = secret.withBytes { bytes in
      SSL_SESSION_set1_master_key(session, bytes.baseAddress, bytes.count) == 1
        && SSL_SESSION_set_cipher(session, cipher) == 1
        && SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1
    }
    guard isDone else {
      SSL_SESSION_free(session)
      return nil
    }
    return session
  }
}
