import Foundation

/// Where this user's programs keep their state (XDG Base Directory Specification).
package enum UserState {
  /// `glasswing/NAME` in `XDG_STATE_HOME`, or in `~/.local/state`; by the specification a relative `XDG_STATE_HOME` is none.
  package static func folder(
    _ name: String, environment: [String: String] = ProcessInfo.processInfo.environment,
    home: String = NSHomeDirectory()
  ) -> String {
    let state = value("XDG_STATE_HOME", in: environment).flatMap { $0.hasPrefix("/") ? $0 : nil }
    return "\(state ?? "\(home)/.local/state")/glasswing/\(name)"
  }

  /// Nil for a variable that is not there or empty, which is the same by the specification.
  package static func value(
    _ name: String, in environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String? {
    environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }
}
