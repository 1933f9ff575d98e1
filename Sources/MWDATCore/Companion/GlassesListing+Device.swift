import Foundation
import LinkProtocol

extension DeviceDescription {
  /// - Parameter isAdmitted: this app may connect to the glasses; without, they are on the way to being connected.
  init(_ listing: GlassesListing, isAdmitted: Bool) {
    self.init(
      identifier: listing.identifier, uuid: UUID(bytes: listing.uuid), name: listing.name,
      type: DeviceType(rawValue: listing.model) ?? .unknown,
      state: DeviceState(
        linkState: LinkState(listing.presence, isAdmitted: isAdmitted), compatibility: Compatibility(listing.presence),
        batteryLevel: listing.state.batteryLevel.map(Int.init), chargingState: ChargingState(listing.state.charging),
        donState: DonState(listing.state.wear), hingeState: HingeState(listing.state.hinge),
        thermalLevel: ThermalLevel(listing.state.thermal)))
  }
}

extension LinkState {
  fileprivate init(_ presence: GlassesListing.Presence, isAdmitted: Bool) {
    switch presence {
    case .away, .unpaired, .incompatible: self = .disconnected
    case .connecting: self = .connecting
    case .connected: self = isAdmitted ? .connected : .connecting
    }
  }
}

extension Compatibility {
  fileprivate init(_ presence: GlassesListing.Presence) {
    switch presence {
    case .away, .connecting, .unpaired: self = .undefined
    case .connected: self = .compatible
    case .incompatible: self = .deviceUpdateRequired
    }
  }
}

extension UUID {
  /// All zeros for anything but 16 bytes.
  package init(bytes: [UInt8]) {
    self.init(uuid: bytes.count == 16 ? bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) } : UUID.none)
  }

  private static let none: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}
