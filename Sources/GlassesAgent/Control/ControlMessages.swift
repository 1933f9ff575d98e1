/// One line of JSON to the control socket of glasses.
package struct ControlRequest: Codable, Hashable, Sendable {
  package var action: String
  package var value: String?

  package init(action: String, value: String? = nil) {
    self.action = action
    self.value = value
  }
}

/// The line that answers it.
package struct ControlReply: Codable, Hashable, Sendable {
  package struct Status: Codable, Hashable, Sendable {
    package var identifier: String
    package var name: String
    package var model: String
    /// Where they listen.
    package var addresses: [String]
    package var power: Bool
    package var hinge: String
    package var wear: String
    package var battery: Int?
    package var charging: String
    package var thermal: String
    package var links: Int
    package var sessions: Int
    package var streams: Int
    package var pairing: Bool
    package var hosts: Int
  }

  package struct Host: Codable, Hashable, Sendable {
    package var name: String
    package var pin: String
  }

  /// Nil when it was done; else why not, for people.
  package var error: String?
  package var status: Status?
  package var hosts: [Host]?
  /// What pairs, with its secret.
  package var uri: String?

  package init() {}

  init(error: String) { self.error = error }
}
