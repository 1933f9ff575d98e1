import Units

/// A pair of glasses that the companion is paired with, as it knows them now: after its hello once for each, then on every
/// change.
package struct GlassesListing: Hashable, Sendable {
  package enum Presence: UInt8, Hashable, Sendable, CaseIterable {
    /// Nothing has been heard of them for a while.
    case away = 1
    case connecting
    /// The companion's control link to them is up.
    case connected
    /// They don't trust this host any more.
    case unpaired
    /// They speak another version of the protocol.
    case incompatible
  }

  package static let mostAddresses = 8

  package var identifier: String
  /// 16 bytes that stay the same as long as they are paired.
  package var uuid: [UInt8]
  package var name: String
  /// As sold; empty when not known.
  package var model: String
  /// SHA-256 of the glasses' key, 32 bytes.
  package var pin: [UInt8]
  package var presence: Presence
  /// Where they were last, the likeliest first: texts of addresses or names.
  package var addresses: [String]
  package var port: UInt16
  /// As they reported last; all unknown while they are not connected.
  package var state: DeviceStateReport

  package init(
    identifier: String, uuid: [UInt8], name: String, model: String, pin: [UInt8], presence: Presence,
    addresses: [String], port: UInt16, state: DeviceStateReport = DeviceStateReport()
  ) {
    self.identifier = identifier
    self.uuid = uuid
    self.name = name
    self.model = model
    self.pin = pin
    self.presence = presence
    self.addresses = addresses
    self.port = port
    self.state = state
  }
}

/// Glasses that were listed and are paired no more.
package struct GlassesRemoved: Hashable, Sendable {
  package var identifier: String
  package init(identifier: String) { self.identifier = identifier }
}

/// Every pair of glasses has been listed once: what a new app needs to know before it says that there are none.
package struct GlassesListed: Hashable, Sendable {
  package init() {}
}

/// An app asks to be let in by the glasses: for a certificate of its key, which lives as long as its process.
package struct CertificateRequest: Hashable, Sendable {
  /// SubjectPublicKeyInfo in DER.
  package var appKey: [UInt8]
  package init(appKey: [UInt8]) { self.appKey = appKey }
}

/// The certificate, signed by the host's key.
package struct CertificateIssued: Hashable, Sendable {
  /// X.509 in DER.
  package var certificate: [UInt8]
  package init(certificate: [UInt8]) { self.certificate = certificate }
}

/// Asks the companion to pair with the glasses that showed a pairing URI. Answered by `companionAnswer`.
package struct PairGlasses: Hashable, Sendable {
  /// Names the answer.
  package var number: UInt32
  /// With its secret: only for a local connection.
  package var uri: String
  package init(number: UInt32, uri: String) {
    self.number = number
    self.uri = uri
  }
}

/// Asks the companion to part from glasses. Answered by `companionAnswer`.
package struct UnpairGlasses: Hashable, Sendable {
  package var number: UInt32
  package var identifier: String
  package init(number: UInt32, identifier: String) {
    self.number = number
    self.identifier = identifier
  }
}

/// How a request of a user ended.
package struct CompanionAnswer: Hashable, Sendable {
  package enum Outcome: UInt16, Hashable, Sendable, CaseIterable {
    case done = 0
    /// The companion failed; the text says how.
    case failed
    /// The text is no pairing URI.
    case badURI
    /// No address of the glasses answers.
    case notReachable
    /// Somebody answers who is not those glasses, or does not know the secret.
    case secretRefused
    /// The glasses answered and would not pair; the text says why.
    case glassesRefused
    /// As many glasses are paired as can be.
    case full
    /// Such glasses are not paired.
    case notPaired
    /// Done here; the glasses could not be told, since they are away.
    case doneHere
  }

  package var number: UInt32
  package var outcome: Outcome
  /// Of the glasses; empty where they are not known.
  package var identifier: String
  /// For people: what happened and what to do. Empty when there is nothing to add.
  package var text: String
  package init(number: UInt32, outcome: Outcome, identifier: String = "", text: String = "") {
    self.number = number
    self.outcome = outcome
    self.identifier = identifier
    self.text = text
  }
}
