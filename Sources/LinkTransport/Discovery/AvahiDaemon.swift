import CAvahi

/// What can be said about the host's Avahi daemon right now.
package enum AvahiDaemon {
  package enum Answer: Hashable, Sendable {
    case runs(version: String)
    /// In libavahi's words.
    case absent(String)
  }

  /// Asks it, which may take as long as the message bus does. Any thread.
  package static func ask() -> Answer {
    guard let poll = avahi_simple_poll_new() else { return .absent("no memory") }
    defer { avahi_simple_poll_free(poll) }
    var code: Int32 = 0
    guard
      let client = avahi_client_new(avahi_simple_poll_get(poll), AvahiClientFlags(rawValue: 0), nil, nil, &code)
    else { return .absent(avahi_strerror(code).map { String(cString: $0) } ?? "error \(code)") }
    defer { avahi_client_free(client) }
    return .runs(version: avahi_client_get_version_string(client).map { String(cString: $0) } ?? "avahi")
  }
}
