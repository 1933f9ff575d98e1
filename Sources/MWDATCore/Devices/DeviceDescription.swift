import Foundation

/// What an environment knows of one of its devices, at one moment.
package struct DeviceDescription: Sendable, Equatable {
  package var identifier: DeviceIdentifier
  /// Stays the same across launches; not derived from `identifier`.
  package var uuid: UUID
  /// Empty when not known yet.
  package var name: String
  package var type: DeviceType
  package var state: DeviceState

  package init(identifier: DeviceIdentifier, uuid: UUID, name: String, type: DeviceType, state: DeviceState) {
    self.identifier = identifier
    self.uuid = uuid
    self.name = name
    self.type = type
    self.state = state
  }

  /// Whether a session can begin on it.
  package var isEligible: Bool { state.linkState == .connected && state.compatibility == .compatible }
}
