import Companion

/// Tells the companion where glasses are found on the network.
final class GlassesFinder: Sendable {
  init(_ companion: Companion) {}
}
