/// Why a TLS connection failed.
package struct TLSError: Error, Hashable, Sendable {
  /// How far it had come.
  package enum Stage: String, Hashable, Sendable, CaseIterable {
    case hello
    /// The pairing's secret.
    case secret
    case certificate
    /// The last messages of the handshake.
    case finished
    /// After the handshake.
    case records
  }

  package enum Cause: Hashable, Sendable {
    /// The peer does not speak TLS 1.3.
    case versionRefused
    /// The peer does not speak our protocol; it offered these names, as far as it said.
    case protocolRefused(offered: [String])
    /// Neither pairing nor paired: no host is known, and no pairing was named.
    case notPaired
    /// The client named a pairing that is not open here.
    case pairingUnknown
    /// The client names the pairing but does not know its secret.
    case secretWrong
    /// The server went on without the pairing's secret: it is not the glasses, or they are not pairing any more.
    case secretNotUsed
    case certificateMissing
    case certificateRefused(CertificateError)
    /// More certificates than a peer may send.
    case chainTooLong(limit: Int)
    /// A client whose key is none of the hosts' and has no signature of theirs.
    case hostUnknown(KeyPin)
    /// A server with another key than the paired one.
    case agentUnknown(expected: KeyPin, found: KeyPin)
    /// The peer ended it, with the number of a TLS alert (RFC 8446, 6.2).
    case refusedByPeer(alert: UInt8)
    /// Bytes that are not TLS, damaged, or in the wrong place.
    case malformed(String)
    case handshakeTooLong(limit: Int)
    /// This side was to send before it knew its peer.
    case notEstablished
    /// OpenSSL can't: no memory, or not configured for this.
    case library(String)
  }

  package let cause: Cause
  package let stage: Stage

  package init(_ cause: Cause, stage: Stage) {
    self.cause = cause
    self.stage = stage
  }
}

extension TLSError: CustomStringConvertible {
  /// What is wrong, and what to do about it.
  package var description: String { "\(what) (\(stage)); \(nextStep)" }

  package var what: String {
    switch cause {
    case .versionRefused: "the peer does not speak TLS 1.3"
    case .protocolRefused(let offered):
      offered.isEmpty
        ? "the peer does not speak \(TLSConfiguration.currentProtocol)"
        : "the peer speaks \(offered.joined(separator: ", ")), this side \(TLSConfiguration.currentProtocol)"
    case .notPaired: "a stranger called, and these glasses are paired with no host"
    case .pairingUnknown: "the peer wants to pair, and no such pairing is open"
    case .secretWrong: "the peer does not know the pairing's secret"
    case .secretNotUsed: "the glasses do not take part in this pairing"
    case .certificateMissing: "the peer has shown no certificate"
    case .certificateRefused(let error): "the peer's certificate is refused: \(error)"
    case .chainTooLong(let limit): "the peer shows more than \(limit) certificates"
    case .hostUnknown(let pin): "the key \(pin) belongs to no paired host"
    case .agentUnknown(let expected, let found): "the glasses have the key \(found), not the paired one, \(expected)"
    case .refusedByPeer(let alert): "the peer refused: \(Alert.name(alert))"
    case .malformed(let reason): "the peer's bytes are not TLS: \(reason)"
    case .handshakeTooLong(let limit): "the peer's handshake is longer than \(limit) bytes"
    case .notEstablished: "nothing may be sent before the peer is known"
    case .library(let reason): "OpenSSL failed: \(reason)"
    }
  }

  package var nextStep: String {
    switch cause {
    case .versionRefused, .malformed, .handshakeTooLong, .chainTooLong: "check address and port"
    case .protocolRefused: "update the older side"
    case .notPaired, .hostUnknown: "pair the glasses with this host"
    case .pairingUnknown, .secretNotUsed, .secretWrong: "start pairing on the glasses anew and use what they show"
    case .certificateMissing, .certificateRefused: "connect with a Glasswing app or companion"
    case .agentUnknown: "if the glasses were reset, pair them again; else somebody else answers for them"
    case .refusedByPeer(let alert): Alert.nextStep(alert)
    case .notEstablished: "wait for the handshake; report it to Glasswing's makers"
    case .library: "check the installation of OpenSSL 3"
    }
  }
}

/// The alerts of TLS (RFC 8446, 6; RFC 7301, 3.2) that an end of ours sends or makes something of.
enum Alert {
  static let unexpectedMessage: UInt8 = 10
  static let badRecord: UInt8 = 20
  static let handshakeFailure: UInt8 = 40
  static let badCertificate: UInt8 = 42
  static let illegalParameter: UInt8 = 47
  static let unknownAuthority: UInt8 = 48
  static let decryptError: UInt8 = 51
  static let protocolVersion: UInt8 = 70
  static let certificateRequired: UInt8 = 116
  static let noApplicationProtocol: UInt8 = 120

  static func name(_ alert: UInt8) -> String {
    switch alert {
    case unexpectedMessage: "unexpected message"
    case badRecord: "record does not decrypt"
    case handshakeFailure: "nothing in common"
    case badCertificate: "certificate not usable"
    case illegalParameter: "value not allowed, or secret wrong"
    case unknownAuthority: "not paired"
    case decryptError: "signature or secret wrong"
    case protocolVersion: "TLS version not spoken"
    case certificateRequired: "certificate missing"
    case noApplicationProtocol: "protocol not spoken"
    default: "alert \(alert)"
    }
  }

  static func nextStep(_ alert: UInt8) -> String {
    switch alert {
    case unknownAuthority, handshakeFailure, certificateRequired: "pair the glasses with this host"
    case protocolVersion, noApplicationProtocol: "update the older side"
    case badCertificate: "register the app again"
    case illegalParameter, decryptError: "start pairing on the glasses anew and use what they show"
    default: "connect again; if it happens again, report it to the maker of the peer's software"
    }
  }
}
