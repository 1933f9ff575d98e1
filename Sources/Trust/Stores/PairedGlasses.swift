import Foundation

/// The glasses that a host is paired with, and where they were last.
package struct PairedGlasses: StoreContent {
  package static let longest = 1_048_576
  package static let most = 256

  package struct Glasses: Codable, Hashable, Sendable {
    package let device: GlassesIdentifier
    /// Theirs as long as they are paired.
    package let uuid: UUID
    package let name: String
    package let model: String
    package let pin: KeyPin
    /// Newest first, at most as many as a pairing URI has.
    package let addresses: [HostAddress]
    package let port: UInt16

    /// Nil for names that can't be shown (a model may be unknown, that is empty), port 0, and addresses beyond the limit.
    package init?(
      device: GlassesIdentifier, uuid: UUID = UUID(), name: String, model: String, pin: KeyPin,
      addresses: [HostAddress], port: UInt16
    ) {
      guard DisplayText.isAcceptable(name), model.isEmpty || DisplayText.isAcceptable(model), port > 0,
        addresses.count <= PairingURI.mostAddresses
      else { return nil }
      self.device = device
      self.uuid = uuid
      self.name = name
      self.model = model
      self.pin = pin
      self.addresses = addresses
      self.port = port
    }

    package init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      let glasses = Glasses(
        device: try container.decode(GlassesIdentifier.self, forKey: .device),
        uuid: try container.decode(UUID.self, forKey: .uuid),
        name: try container.decode(String.self, forKey: .name),
        model: try container.decode(String.self, forKey: .model),
        pin: try container.decode(KeyPin.self, forKey: .pin),
        addresses: try container.decode([HostAddress].self, forKey: .addresses),
        port: try container.decode(UInt16.self, forKey: .port))
      guard let glasses else {
        throw DecodingError.dataCorrupted(
          .init(codingPath: decoder.codingPath, debugDescription: "a name, a port or a count that is not allowed"))
      }
      self = glasses
    }

    /// Those that were paired before, and are again.
    package func with(uuid: UUID) -> Glasses? {
      Glasses(device: device, uuid: uuid, name: name, model: model, pin: pin, addresses: addresses, port: port)
    }

    /// As they call themselves now.
    package func called(_ name: String, model: String) -> Glasses? {
      Glasses(device: device, uuid: uuid, name: name, model: model, pin: pin, addresses: addresses, port: port)
    }

    /// Found at another place.
    package func at(_ addresses: [HostAddress], port: UInt16) -> Glasses? {
      Glasses(
        device: device, uuid: uuid, name: name, model: model, pin: pin,
        addresses: Array(addresses.prefix(PairingURI.mostAddresses)), port: port)
    }
  }

  package private(set) var glasses: [Glasses] = []

  package init() {}

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let glasses = try container.decode([Glasses].self, forKey: .glasses)
    guard glasses.count <= Self.most, Set(glasses.map(\.device)).count == glasses.count else {
      throw DecodingError.dataCorruptedError(
        forKey: .glasses, in: container, debugDescription: "more than \(Self.most) glasses, or some twice")
    }
    self.glasses = glasses
  }

  /// Adds glasses, or puts them in the place of those with the same identifier, whose pin they may have changed: only
  /// a pairing does. False when there are too many.
  package mutating func add(_ added: Glasses) -> Bool {
    if let index = glasses.firstIndex(where: { $0.device == added.device }) {
      glasses[index] = added
      return true
    }
    guard glasses.count < Self.most else { return false }
    glasses.append(added)
    return true
  }

  /// False when they were not there.
  package mutating func remove(_ device: GlassesIdentifier) -> Bool {
    let count = glasses.count
    glasses.removeAll { $0.device == device }
    return glasses.count < count
  }
}
