/// Why a certificate is none of ours.
package enum CertificateError: Error, Hashable, Sendable {
  case tooLong(limit: Int)
  /// Not X.509 in DER (RFC 5280), or in PEM where that was asked for, or with bytes behind it.
  case malformed
  case notP256
  /// The subject has no unit name that is one of ours.
  case roleMissing
  /// An app's certificate without an identifier, or with one that is too long or has characters of control.
  case appIdentifierInvalid
  /// An extension is damaged, marks itself as critical and is unknown, or makes an authority of who is none.
  case extensionRefused
  case library(OpenSSLFailure)
}

extension CertificateError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .tooLong(let limit): "certificate of more than \(limit) bytes"
    case .malformed: "not a certificate (X.509)"
    case .notP256: "certificate of a key that is not on P-256"
    case .roleMissing: "certificate without a role of ours"
    case .appIdentifierInvalid: "app certificate without a usable identifier"
    case .extensionRefused: "certificate with an extension that is not allowed"
    case .library(let failure): "OpenSSL failed: \(failure.text)"
    }
  }
}
