import Foundation
import LinkProtocol
import Synchronization

/// Names a device; stable across launches.
public typealias DeviceIdentifier = String

/// A pair of glasses. Its properties are live: each read gives the current value.
///
/// There is one object for an identifier as long as anybody holds it or a listener's token; so a listener goes on hearing
/// when the device leaves the list and comes back. A device that left the list reads disconnected.
/// All members may be used from any thread; listeners are called on a thread of the device's, in order, with the
/// property already at the new value.
public final class Device: Sendable {
  /// Names the device.
  public let identifier: DeviceIdentifier

  private let description: Mutex<DeviceDescription>
  private let lane: RelocatableLane
  private let states: Broadcaster<DeviceState>
  private let linkStates: Broadcaster<LinkState>
  private let compatibilities: Broadcaster<Compatibility>
  private let changes: Broadcaster<Void>

  package init(_ description: DeviceDescription, timekeeper: any Timekeeper) {
    identifier = description.identifier
    self.description = Mutex(description)
    lane = RelocatableLane(name: "device", timekeeper: timekeeper)
    states = Broadcaster(lane: lane)
    linkStates = Broadcaster(lane: lane)
    compatibilities = Broadcaster(lane: lane)
    changes = Broadcaster(lane: lane)
  }

  /// What people call the device; empty until known.
  public var name: String { description.withLock { $0.name } }

  /// The device's UUID, the same across launches.
  public var deviceUUID: UUID { description.withLock { $0.uuid } }

  /// The name, or the identifier while there is none.
  public func nameOrId() -> String { description.withLock { $0.name.isEmpty ? $0.identifier : $0.name } }

  /// Whether the device can be reached.
  public var linkState: LinkState { state.linkState }

  /// Percent, 0 to 100; nil when not known.
  public var batteryLevel: Int? { state.batteryLevel }

  /// Whether the battery is being charged.
  public var chargingState: ChargingState { state.chargingState }

  /// Whether the device is worn.
  public var donState: DonState { state.donState }

  /// Whether the device is folded.
  public var hingeState: HingeState { state.hingeState }

  /// How hot the device is.
  public var thermalLevel: ThermalLevel { state.thermalLevel }

  /// Calls `listener` with the current state first, then with each new one.
  public func addDeviceStateListener(
    _ listener: @escaping @Sendable (DeviceState) -> Void
  ) -> any AnyListenerToken {
    description.withLock { states.listen(replaying: $0.state, keeping: self, listener) }
  }

  /// Calls `listener` with each new link state, not with the current one.
  public func addLinkStateListener(_ listener: @escaping @Sendable (LinkState) -> Void) -> any AnyListenerToken {
    linkStates.listen(keeping: self, listener)
  }

  /// Calls `listener` with each new compatibility, not with the current one.
  public func addCompatibilityListener(
    _ listener: @escaping @Sendable (Compatibility) -> Void
  ) -> any AnyListenerToken {
    compatibilities.listen(keeping: self, listener)
  }

  /// The model.
  public func deviceType() -> DeviceType { description.withLock { $0.type } }

  /// Whether app and device understand each other.
  public func compatibility() -> Compatibility { state.compatibility }

  /// Whether the model can show something; says nothing of the link.
  public func supportsDisplay() -> Bool { deviceType().supportsDisplay }
}

extension Device {
  /// The whole state at one moment.
  package var state: DeviceState { description.withLock { $0.state } }

  package var currentDescription: DeviceDescription { description.withLock { $0 } }

  /// Calls `listener` once at first and then after each change of anything, the name included.
  package func addChangeListener(_ listener: @escaping @Sendable () -> Void) -> any AnyListenerToken {
    changes.listen(replaying: (), keeping: self, listener)
  }

  /// Takes over what the environment knows now; tells who listens to what changed.
  func update(_ new: DeviceDescription) {
    description.withLock { current in
      guard new != current else { return }
      let old = current
      current = new
      if new.state != old.state { states.send(new.state) }
      if new.state.linkState != old.state.linkState { linkStates.send(new.state.linkState) }
      if new.state.compatibility != old.state.compatibility { compatibilities.send(new.state.compatibility) }
      changes.send(())
    }
  }

  /// The device left the list: whatever else was known stays, but it can't be reached.
  func leave() {
    var new = currentDescription
    new.state.linkState = .disconnected
    new.state.compatibility = .undefined
    update(new)
  }

  /// Another environment drives the device from now on.
  func move(to timekeeper: any Timekeeper) { lane.move(to: timekeeper) }
}
