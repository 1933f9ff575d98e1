import Foundation

/// Where the companion of this user keeps what it knows, and the socket at which apps find it.
package struct CompanionFolder: Hashable, Sendable {
  /// Names another folder; for tests, and for people with several sets of glasses.
  package static let variable = "GLASSWING_COMPANION_DIR"

  package let path: String

  package init(_ path: String) { self.path = path }

  /// The folder named by `GLASSWING_COMPANION_DIR`, else `glasswing/companion` where the user's programs keep their state
  /// (XDG Base Directory Specification: `XDG_STATE_HOME`, or `~/.local/state`).
  package static func present(
    environment: [String: String] = ProcessInfo.processInfo.environment, home: String = NSHomeDirectory()
  ) -> CompanionFolder {
    func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    if let named = value(variable) { return CompanionFolder(named) }
    // By the specification a relative path there is none.
    let state = value("XDG_STATE_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "\(home)/.local/state"
    return CompanionFolder("\(state)/glasswing/companion")
  }

  package var socket: String { "\(path)/companion.sock" }
  package var hostKey: String { "\(path)/host.pem" }
  package var glasses: String { "\(path)/glasses.json" }
}
