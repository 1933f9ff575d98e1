/// Why there is no key.
package enum KeyError: Error, Hashable, Sendable {
  /// Neither PKCS #8 nor SEC 1 in PEM, damaged, or locked with a password.
  case notAKey
  case notP256
  case tooLong(limit: Int)
  case file(PrivateFileError)
  case library(OpenSSLFailure)
}

extension KeyError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notAKey:
      "not a private key in PEM without password; restore the file from a copy, or remove it, make a new key and pair again"
    case .notP256: "not a key on the curve P-256; make one with `openssl genpkey -algorithm EC -pkeyopt group:P-256`"
    case .tooLong(let limit): "longer than a key can be (\(limit) bytes); restore the file from a copy"
    case .file(let error): error.description
    case .library(let failure): "OpenSSL failed: \(failure.text); check its installation"
    }
  }
}
