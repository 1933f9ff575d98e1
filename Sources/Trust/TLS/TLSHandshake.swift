import COpenSSL

/// What a connection's callbacks know and find: its configuration, whom the peer proved to be, and what was wrong with it
/// before OpenSSL says less.
///
/// Used during calls into OpenSSL only, hence under the engine's guard.
final class TLSHandshake {
  let configuration: TLSConfiguration
  /// Its bytes outlive the callback that hands them to OpenSSL.
  private let identity: UnsafeMutableBufferPointer<UInt8>?
  /// In place of the secret of a pairing that is not open: a client can't tell the one refusal from the other.
  private lazy var decoy = PairingSecret()

  /// Why our side refused, if it did: the first reason.
  private(set) var refusal: TLSError?
  /// Whom the certificate stands for. Its owner has proved nothing yet when it is set.
  private(set) var certified: (peer: TLSPeer, pin: KeyPin)?
  /// The pairing whose secret is in use, unless the handshake falls back to certificates.
  private(set) var offered: PairingOffer?
  /// The last alert that the peer sent.
  var alert: UInt8?

  init(_ configuration: TLSConfiguration) {
    self.configuration = configuration
    if case .pairing(let offer) = configuration.authentication {
      let bytes = offer.identity
      let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
      _ = copy.initialize(from: bytes)
      identity = copy
    } else {
      identity = nil
    }
  }

  deinit { identity?.deallocate() }

  func refuse(_ cause: TLSError.Cause, stage: TLSError.Stage) {
    if refusal == nil { refusal = TLSError(cause, stage: stage) }
  }

  // MARK: Hello

  /// A server's look at the client's hello before anything is answered.
  ///
  /// - Returns: the alert that refuses it, or nil.
  func lookAtHello(names: [UInt8]?, namesSecret: Bool) -> UInt8? {
    let offered = names.map(ApplicationProtocols.names) ?? []
    guard offered.contains(Array(configuration.applicationProtocol.utf8)) else {
      refuse(.protocolRefused(offered: offered.map(ApplicationProtocols.printable)), stage: .hello)
      return Alert.noApplicationProtocol
    }
    // Nobody could pass, so nobody need see a certificate.
    if case .agent(_, let hosts, _) = configuration.authentication, hosts.isEmpty, !namesSecret {
      refuse(.notPaired, stage: .hello)
      return Alert.handshakeFailure
    }
    return nil
  }

  // MARK: Secret

  /// The secret that belongs to an identity that a client named; never nil, see `decoy`.
  func secret(for named: [UInt8]) -> PairingSecret {
    guard case .agent(_, _, let pairing?) = configuration.authentication, OpenSSL.isEqual(named, pairing.identity)
    else {
      refuse(.pairingUnknown, stage: .secret)
      return decoy
    }
    offered = pairing
    return pairing.secret
  }

  /// What a client names and knows; nil when it does not pair.
  func ownSecret() -> (identity: UnsafeMutableBufferPointer<UInt8>, secret: PairingSecret)? {
    guard case .pairing(let offer) = configuration.authentication, let identity else { return nil }
    offered = offer
    return (identity, offer.secret)
  }

  // MARK: Certificates

  /// Whether the peer's first certificate stands for somebody who is taken. Whether the peer has its key is checked by
  /// OpenSSL with the next message (RFC 8446, 4.4.3).
  ///
  /// - Parameter leaf: stays the caller's.
  /// - Returns: nil, or OpenSSL's number for the reason, which becomes the alert.
  func check(leaf: OpaquePointer?, chainCount: Int) -> Int32? {
    guard chainCount <= TLSLimits.chain else {
      refuse(.chainTooLong(limit: TLSLimits.chain), stage: .certificate)
      return X509_V_ERR_CERT_CHAIN_TOO_LONG
    }
    guard let leaf else {
      refuse(.certificateMissing, stage: .certificate)
      return X509_V_ERR_CERT_REJECTED
    }
    switch configuration.authentication {
    case .agent(_, let hosts, _): return check(client: leaf, hosts)
    case .client(_, let pin): return check(agent: leaf, pin)
    case .pairing:
      // A server that has no part in the secret, whatever it shows.
      refuse(.secretNotUsed, stage: .secret)
      return X509_V_ERR_CERT_REJECTED
    }
  }

  private func check(agent leaf: OpaquePointer, _ expected: KeyPin) -> Int32? {
    guard let key = CertificateContent.publicKey(leaf) else {
      refuse(.certificateRefused(.notP256), stage: .certificate)
      return X509_V_ERR_CERT_REJECTED
    }
    guard key.pin == expected else {
      refuse(.agentUnknown(expected: expected, found: key.pin), stage: .certificate)
      return X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN
    }
    certified = (.agent(key.pin), key.pin)
    return nil
  }

  private func check(client leaf: OpaquePointer, _ hosts: [PublicKey]) -> Int32? {
    guard let key = CertificateContent.publicKey(leaf) else {
      refuse(.certificateRefused(.notP256), stage: .certificate)
      return X509_V_ERR_CERT_REJECTED
    }
    if hosts.contains(key) {
      certified = (.companion(host: key.pin), key.pin)
      return nil
    }
    // Signed first, read then: nobody reads what a stranger wrote. Hosts are few, so each is tried.
    guard let host = hosts.first(where: { X509_verify(leaf, $0.handle) == 1 }) else {
      refuse(.hostUnknown(key.pin), stage: .certificate)
      return X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN
    }
    do {
      let content = try CertificateContent(leaf)
      guard content.role == .app, let identifier = content.appIdentifier else { throw CertificateError.roleMissing }
      certified = (.app(identifier: identifier, key: key.pin, host: host.pin), key.pin)
      return nil
    } catch {
      refuse(.certificateRefused((error as? CertificateError) ?? .malformed), stage: .certificate)
      return X509_V_ERR_CERT_REJECTED
    }
  }
}

/// The names in a hello's list of protocols (RFC 7301, 3.1).
enum ApplicationProtocols {
  /// Those before whatever is malformed: a length of two bytes, then names with a length of one byte each.
  static func names(_ list: [UInt8]) -> [[UInt8]] {
    guard list.count >= 2, Int(list[0]) << 8 | Int(list[1]) == list.count - 2 else { return [] }
    var names: [[UInt8]] = []
    var rest = list.dropFirst(2)
    while let length = rest.popFirst(), length > 0, Int(length) <= rest.count {
      names.append(Array(rest.prefix(Int(length))))
      rest = rest.dropFirst(Int(length))
    }
    return names
  }

  /// As offered to a server.
  static func list(_ name: String) -> [UInt8] {
    let utf8 = Array(name.utf8.prefix(255))
    return [UInt8(utf8.count)] + utf8
  }

  /// For an error's text: printable ASCII, and no more than a name needs.
  static func printable(_ name: [UInt8]) -> String {
    String(decoding: name.prefix(32).map { 0x21...0x7e ~= $0 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
  }
}
