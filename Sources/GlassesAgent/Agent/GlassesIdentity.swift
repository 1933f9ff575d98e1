/// Who a pair of glasses is.
package struct GlassesIdentity: Hashable, Sendable {
  /// Stable and unique among the glasses that an app may see.
  package var identifier: String
  /// What people call them.
  package var name: String
  /// The model as sold.
  package var model: String
  /// Version of the software on the glasses, for people and logs.
  package var softwareVersion: String

  package init(identifier: String, name: String, model: String, softwareVersion: String) {
    self.identifier = identifier
    self.name = name
    self.model = model
    self.softwareVersion = softwareVersion
  }
}

/// Who may use the sensors. Asked on the agent's lane, each time before a sensor opens; must not block.
package protocol AgentPermissions: AnyObject, Sendable {
  /// - Parameter app: the identifier from the app's hello.
  func allowsCamera(app: String) -> Bool
  /// As `allowsCamera`, for sound.
  func allowsMicrophone(app: String) -> Bool
}
