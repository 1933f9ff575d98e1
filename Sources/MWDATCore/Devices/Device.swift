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
  /// Asked to look again before a property is read, since news come on a lane and a reader wants the present.
  private let owner: Weak<SharedWearables>
  private let lane: RelocatableLane
  private let states: Broadcaster<DeviceState>
  private let linkStates: Broadcaster<LinkState>
  private let compatibilities: Broadcaster<Compatibility>
  private let changes: Broadcaster<Void>

  init(_ description: DeviceDescription, owner: SharedWearables, timekeeper: any Timekeeper) {
    identifier = description.identifier
    self.owner = Weak(owner)
    self.description = Mutex(description)
    lane = RelocatableLane(name: "device", timekeeper: timekeeper)
    states = Broadcaster(lane: lane)
    linkStates = Broadcaster(lane: lane)
    compatibilities = Broadcaster(lane: lane)
    changes = Broadcaster(lane: lane)
  }

  /// What people call the device; empty until known.
  public var name: String { fresh.name }

  /// The device's UUID, the same across launches.
  public var deviceUUID: UUID { currentDescription.uuid }

  /// The name, or the identifier while there is none.
  public func nameOrId() -> String {
    let name = name
    return name.isEmpty ? identifier : name
  }

  /// Whether the device can be reached.
  public var linkState: LinkState { fresh.state.linkState }

  /// Percent, 0 to 100; nil when not known.
  public var batteryLevel: Int? { fresh.state.batteryLevel }

  /// Whether the battery is being charged.
  public var chargingState: ChargingState { fresh.state.chargingState }

  /// Whether the device is worn.
  public var donState: DonState { fresh.state.donState }

  /// Whether the device is folded.
  public var hingeState: HingeState { fresh.state.hingeState }

  /// How hot the device is.
  public var thermalLevel: ThermalLevel { fresh.state.thermalLevel }

  /// Calls `listener` with the current state first, then with each new one.
  public func addDeviceStateListener(
    _ listener: @escaping @Sendable (DeviceState) -> Void
  ) -> any AnyListenerToken {
    owner.object?.refreshDevices()
    return description.withLock { states.listen(replaying: $0.state, keeping: self, listener) }
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
  public func deviceType() -> DeviceType { currentDescription.type }

  /// Whether app and device understand each other.
  public func compatibility() -> Compatibility { fresh.state.compatibility }

  /// Whether the model can show something; says nothing of the link.
  public func supportsDisplay() -> Bool { deviceType().supportsDisplay }
}

extension Device {
  /// As last heard of; consistent with what listeners have been or are about to be told.
  package var currentDescription: DeviceDescription { description.withLock { $0 } }

  /// As the environment has it now.
  private var fresh: DeviceDescription {
    owner.object?.refreshDevices()
    return currentDescription
  }

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
