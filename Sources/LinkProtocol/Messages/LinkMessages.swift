import Units

/// First message of each side; nothing else is understood before it.
package struct Hello: Hashable, Sendable {
  package var version: ProtocolVersion
  package var role: LinkRole
  package var purpose: LinkPurpose
  package var capabilities: Capabilities
  /// The sender's own stable identity: the device identifier of glasses, the app's identifier of an app.
  package var identifier: String
  /// What people call the sender: "Glasswing 2F4A", an app's display name.
  package var name: String
  /// Model of glasses as sold; empty for an app.
  package var model: String
  /// Version of the sender's software, for people and logs.
  package var softwareVersion: String
  /// Fresh random bytes; what a grant for this link is bound to.
  package var nonce: Nonce

  package init(
    version: ProtocolVersion = .current, role: LinkRole, purpose: LinkPurpose = .media, capabilities: Capabilities,
    identifier: String, name: String, model: String = "", softwareVersion: String, nonce: Nonce
  ) {
    self.version = version
    self.role = role
    self.purpose = purpose
    self.capabilities = capabilities
    self.identifier = identifier
    self.name = name
    self.model = model
    self.softwareVersion = softwareVersion
    self.nonce = nonce
  }
}

/// Peers of one major version understand each other; a newer minor version may send messages the older one skips.
package struct ProtocolVersion: Hashable, Sendable {
  package var major: UInt8
  package var minor: UInt8
  package init(major: UInt8, minor: UInt8) {
    self.major = major
    self.minor = minor
  }
  package static let current = ProtocolVersion(major: 1, minor: 0)
}

package enum LinkRole: UInt8, Hashable, Sendable, CaseIterable { case app = 1, companion, glasses }

/// What a link is for: an app's session with media, a standing control link (of a companion to glasses, of an app to its
/// companion), or a pairing.
package enum LinkPurpose: UInt8, Hashable, Sendable, CaseIterable { case media = 1, control, pairing }

/// What a side can do, as bits; unknown bits are ignored.
package struct Capabilities: OptionSet, Hashable, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }
  package static let videoHEVC = Capabilities(rawValue: 1 << 0)
  package static let videoH264 = Capabilities(rawValue: 1 << 1)
  package static let audioPCM = Capabilities(rawValue: 1 << 2)
  package static let audioOpus = Capabilities(rawValue: 1 << 3)
  package static let photoJPEG = Capabilities(rawValue: 1 << 4)
  package static let photoHEIC = Capabilities(rawValue: 1 << 5)
}

/// 16 random bytes.
package struct Nonce: Hashable, Sendable {
  package static let length = 16
  package let bytes: [UInt8]
  /// Nil unless there are exactly 16 bytes.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.length else { return nil }
    self.bytes = bytes
  }
  /// From the system's generator, which nobody can predict.
  package init() { bytes = (0..<Self.length).map { _ in UInt8.random(in: .min ... .max) } }
  package init(from generator: inout some RandomNumberGenerator) {
    bytes = (0..<Self.length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}

/// Last message of a side: why it leaves.
package struct Goodbye: Hashable, Sendable {
  package enum Reason: UInt8, Hashable, Sendable, CaseIterable {
    /// The side is done.
    case finished = 1
    /// The peers' major versions differ.
    case versionMismatch
    /// The peer broke the protocol; the text says how.
    case protocolViolation
    /// The glasses go off or into their case.
    case poweringOff
    /// The hinge was closed.
    case hingeClosed
    /// The glasses were unpaired.
    case unpaired
    /// Something failed on the sender's side; the text says what.
    case internalError
    /// The sender does not do what the link is for with this peer; the text says why.
    case refused
  }
  package var reason: Reason
  package var text: String
  package init(reason: Reason, text: String = "") {
    self.reason = reason
    self.text = text
  }
}

/// Sent when nothing has been heard for a while; answered at once with the same number as a pong.
package struct Ping: Hashable, Sendable {
  package var number: UInt32
  package init(number: UInt32) { self.number = number }
}

/// The app asks what time the glasses have. Times are on each side's own monotonic clock, as in RFC 5905, section 8.
package struct ClockRequest: Hashable, Sendable {
  package var number: UInt32
  /// The app's clock when this left.
  package var originated: Instant
  package init(number: UInt32, originated: Instant) {
    self.number = number
    self.originated = originated
  }
}

package struct ClockReply: Hashable, Sendable {
  package var number: UInt32
  /// As it stood in the request.
  package var originated: Instant
  /// The glasses' clock when the request arrived.
  package var received: DeviceTime
  /// The glasses' clock when this left.
  package var transmitted: DeviceTime
  package init(number: UInt32, originated: Instant, received: DeviceTime, transmitted: DeviceTime) {
    self.number = number
    self.originated = originated
    self.received = received
    self.transmitted = transmitted
  }
}

/// What the receiver of media has seen of one channel, sent every `LinkLimits.feedbackInterval` while units arrive.
package struct Feedback: Hashable, Sendable {
  package var channel: Channel
  /// Highest unit sequence that arrived whole.
  package var highestSequence: UInt32
  /// The receiver's clock when it did.
  package var arrived: Instant
  /// Whole units, lost units and bytes since the link opened.
  package var unitsReceived: UInt32
  package var unitsLost: UInt32
  package var bytesReceived: UInt64
  package init(
    channel: Channel, highestSequence: UInt32, arrived: Instant, unitsReceived: UInt32, unitsLost: UInt32,
    bytesReceived: UInt64
  ) {
    self.channel = channel
    self.highestSequence = highestSequence
    self.arrived = arrived
    self.unitsReceived = unitsReceived
    self.unitsLost = unitsLost
    self.bytesReceived = bytesReceived
  }
}

/// Something failed on the sender's side that no other message's answer carries.
package struct Failure: Hashable, Sendable {
  package enum Scope: Hashable, Sendable {
    case link
    case session(SessionID)
    case stream(StreamID)
  }
  package var scope: Scope
  package var code: LinkErrorCode
  package var text: String
  package init(scope: Scope, code: LinkErrorCode, text: String = "") {
    self.scope = scope
    self.code = code
    self.text = text
  }
}

/// The causes that cross the link. A code that a newer peer invented reads as `.unknown`.
package enum LinkErrorCode: UInt16, Hashable, Sendable, CaseIterable {
  case unknown = 0
  case internalError = 1
  case notOpen = 2
  /// Another app has the camera; a later try may succeed.
  case heldByOther = 3
  case unsupported = 4
  case timeout = 5

  case cameraPermissionDenied = 16
  case microphonePermissionDenied = 17

  /// The source of pictures can't be played or failed; the text says why.
  case sourceFailed = 32
  case encoderFailed = 33
  case audioFailed = 34

  case photoFailed = 48
  case photoBusy = 49

  case hingeClosed = 64
  case thermalHot = 65
  case thermalCritical = 66
  case thermalEmergency = 67
  case batteryLow = 68
  case batteryCritical = 69
  case peakPowerLimit = 70
  case peakPowerShutdown = 71
}
