import LinkTransport
import Trust

/// Why a companion can't begin.
package enum CompanionError: Error, Hashable, Sendable {
  /// Another process is this user's companion: it may be asked instead.
  case alreadyRunning
  case key(KeyError)
  case certificate(CertificateError)
  case store(StoreError)
  case socket(SocketFailure)
}

extension CompanionError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .alreadyRunning: "a companion runs already; it serves this user's programs"
    case .key(let error): "\(error)"
    case .certificate(let error): "\(error)"
    case .store(let error): "\(error)"
    case .socket(let error): "\(error)"
    }
  }
}
