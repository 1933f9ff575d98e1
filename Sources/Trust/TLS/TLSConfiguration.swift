/// Who this end is and whom it takes for its peer.
package struct TLSConfiguration: Sendable {
  package enum Authentication: Sendable {
    /// Glasses, the server. A client is taken when its certificate's key is one of the hosts' keys, or when one of these
    /// keys signed its certificate, which then is an app's.
    ///
    /// While `pairing` is there, a client that names it and knows its secret is taken as well. Without hosts, any client
    /// that does not is sent away before it has seen the glasses' certificate.
    case agent(TLSIdentity, hosts: [PublicKey], pairing: PairingOffer?)

    /// An app or a companion, the client. Glasses are taken when their key is the one with this pin.
    case client(TLSIdentity, agent: KeyPin)

    /// A companion that pairs, the client: either side knows the other by the one secret.
    case pairing(PairingOffer)
  }

  package var authentication: Authentication
  /// Spoken inside (ALPN, RFC 7301). A peer that does not offer it is refused.
  package var applicationProtocol: String

  package init(_ authentication: Authentication, applicationProtocol: String = Self.currentProtocol) {
    self.authentication = authentication
    self.applicationProtocol = applicationProtocol
  }

  /// The link protocol's major version. Another one has another name here, so that two ends that can't talk part within
  /// the handshake.
  package static let currentProtocol = "glasswing/1"
}

/// A key with its certificate.
package struct TLSIdentity: Sendable {
  let key: SigningKey
  let certificate: Certificate

  /// Nil when the certificate is that of another key.
  package init?(key: SigningKey, certificate: Certificate) {
    guard key.publicKey == certificate.publicKey else { return nil }
    self.key = key
    self.certificate = certificate
  }
}

/// A pairing: whose, and the secret that both sides know.
///
/// In the handshake it is an external pre-shared key (RFC 8446, 2.2 and 4.2.11), used with a key exchange
/// (`psk_dhe_ke`), with SHA-256, for one protocol and in one direction: glasses listen, companions call. That is what
/// RFC 9258 makes sure of for keys that serve several; OpenSSL 3.0 has no form of its own for it, nor for RFC 8773, which
/// would add a certificate.
package struct PairingOffer: Sendable {
  /// What the client names in clear. Who listens on the network sees it: it must be no secret.
  package let device: GlassesIdentifier
  package let secret: PairingSecret

  package init(device: GlassesIdentifier, secret: PairingSecret) {
    self.device = device
    self.secret = secret
  }

  var identity: [UInt8] { Array("pair:\(device.text)".utf8) }
}

/// Who is at the other end, as proved in the handshake.
package enum TLSPeer: Hashable, Sendable {
  /// A companion: it has the host's own key.
  case companion(host: KeyPin)
  /// An app that the host vouches for.
  case app(identifier: String, key: KeyPin, host: KeyPin)
  /// Glasses, with the pin that was asked for.
  case agent(KeyPin)
  /// Whoever knows the pairing's secret.
  case pairing(GlassesIdentifier)
}

/// What a peer may use up before it is known.
package enum TLSLimits {
  /// Bytes of a whole handshake; one of ours has less than 2000 each way, one with the longest chain less than 10,000.
  package static let handshake = 16_384
  /// Certificates in a peer's chain. One says all; a second one, the signer's, is a habit of TLS stacks.
  package static let chain = 2
  /// Bytes of a certificate message: a chain at its longest, and framing.
  static let certificateMessage = chain * (Certificate.longest + 64)
  /// Plain bytes that come out of one call of OpenSSL: one record (RFC 8446, 5.1).
  static let record = 16_384
}
