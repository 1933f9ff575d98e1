import Foundation
import LinkProtocol

extension Hello {
  /// What an app says of itself, to glasses and to its companion.
  ///
  /// - Parameter information: nil where the mock was enabled without `configure()`.
  package static func app(
    _ information: AppInformation?, purpose: LinkPurpose = .media, nonce: Nonce = Nonce()
  ) -> Hello {
    let process = ProcessInfo.processInfo.processName
    return Hello(
      role: .app, purpose: purpose, capabilities: [.videoHEVC, .photoJPEG, .photoHEIC, .audioPCM, .audioOpus],
      identifier: information?.bundleIdentifier ?? process, name: information?.name ?? process,
      softwareVersion: information?.version ?? "", nonce: nonce)
  }
}
