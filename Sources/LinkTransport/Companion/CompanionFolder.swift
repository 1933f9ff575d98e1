/// Where the companion of this user keeps what it knows, and the socket at which apps find it.
package struct CompanionFolder: Hashable, Sendable {
  /// Names another folder; for tests, and for people with several sets of glasses.
  package static let variable = "GLASSWING_COMPANION_DIR"

  package let path: String

  package init(_ path: String) { self.path = path }

  /// The folder named by `GLASSWING_COMPANION_DIR`, else `glasswing/companion` where the user's programs keep their state.
  package static func present() -> CompanionFolder {
    CompanionFolder(UserState.value(variable) ?? UserState.folder("companion"))
  }

  package var socket: String { "\(path)/companion.sock" }
  package var hostKey: String { "\(path)/host.pem" }
  package var glasses: String { "\(path)/glasses.json" }
}
