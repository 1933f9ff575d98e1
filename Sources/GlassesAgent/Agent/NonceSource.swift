import LinkProtocol
import Units

/// Where the glasses' nonces come from.
package enum NonceSource: Sendable {
  /// The system's generator, which nobody can predict.
  case system
  /// A seed, so that each run of simulated glasses sends the same bytes.
  case seeded(SeededGenerator)

  mutating func next() -> Nonce {
    switch self {
    case .system: return Nonce()
    case .seeded(var generator):
      let nonce = Nonce(from: &generator)
      self = .seeded(generator)
      return nonce
    }
  }
}
