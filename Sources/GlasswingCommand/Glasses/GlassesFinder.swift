import Companion
import LinkTransport
import Trust

/// Tells a companion where its glasses are found on the network, where Avahi runs. Ends when it is released.
final class GlassesFinder: Sendable {
  private let browser: ServiceBrowser

  init(_ companion: Companion) {
    browser = ServiceBrowser { [weak companion] event in
      guard case .change(let change) = event else { return }
      switch change {
      case .found(let glasses), .changed(let glasses):
        guard let port = glasses.addresses.first?.port else { return }
        companion?.found(
          glasses.identifier, at: glasses.addresses.compactMap { HostAddress($0.hostText) }, port: port)
      // Where they were last stays the best guess.
      case .lost: break
      }
    }
  }
}
