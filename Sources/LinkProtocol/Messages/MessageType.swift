/// The number that a control unit begins with. The high byte is the group, so that a group can grow by minor versions
/// without shuffling its neighbours.
package enum MessageType: UInt16, Hashable, Sendable, CaseIterable {
  // 0x00: the link itself
  case hello = 0x0001
  case goodbye = 0x0002
  case ping = 0x0003
  case pong = 0x0004
  case clockRequest = 0x0005
  case clockReply = 0x0006
  case feedback = 0x0007
  case failure = 0x0008

  // 0x01: the glasses
  case deviceState = 0x0101

  // 0x02: sessions
  case sessionOpen = 0x0201
  case sessionOpened = 0x0202
  case sessionPaused = 0x0203
  case sessionResumed = 0x0204
  case sessionClose = 0x0205
  case sessionClosed = 0x0206

  // 0x03: streams
  case streamStart = 0x0301
  case streamStarted = 0x0302
  case streamChanged = 0x0303
  case streamStop = 0x0304
  case streamStopped = 0x0305
  case keyframeRequest = 0x0306
  case audioChanged = 0x0307

  // 0x04: photos
  case photoRequest = 0x0401
  case photoResult = 0x0402

  // 0x05: pairing
  case pairingRequest = 0x0501
  case pairingAccepted = 0x0502
  case unpair = 0x0503

  // 0x06: the companion and apps
  case glassesListing = 0x0601
  case glassesRemoved = 0x0602
  case glassesListed = 0x0603
  case certificateRequest = 0x0604
  case certificateIssued = 0x0605
  case pairGlasses = 0x0606
  case unpairGlasses = 0x0607
  case companionAnswer = 0x0608

  /// Who may send it.
  package enum Direction: Hashable, Sendable {
    case both
    /// By an app or a companion, and by glasses to one.
    case toGlasses, fromGlasses
    /// By an app, and by a companion to one.
    case toCompanion, fromCompanion

    /// Whether this may come to a side of one role from one of another.
    func allows(to role: LinkRole, from peer: LinkRole) -> Bool {
      switch self {
      case .both: true
      case .toGlasses: role == .glasses
      case .fromGlasses: peer == .glasses
      case .toCompanion: role == .companion && peer == .app
      case .fromCompanion: role == .app && peer == .companion
      }
    }
  }

  package var direction: Direction {
    switch self {
    case .hello, .goodbye, .ping, .pong, .feedback, .failure: .both
    case .clockRequest, .sessionOpen, .sessionClose, .streamStart, .streamStop, .keyframeRequest, .photoRequest,
      .pairingRequest, .unpair:
      .toGlasses
    case .clockReply, .deviceState, .sessionOpened, .sessionPaused, .sessionResumed, .sessionClosed, .streamStarted,
      .streamChanged, .streamStopped, .audioChanged, .photoResult, .pairingAccepted:
      .fromGlasses
    case .certificateRequest, .pairGlasses, .unpairGlasses: .toCompanion
    case .glassesListing, .glassesRemoved, .glassesListed, .certificateIssued, .companionAnswer: .fromCompanion
    }
  }
}

extension Message {
  package var type: MessageType {
    switch self {
    case .hello: .hello
    case .goodbye: .goodbye
    case .ping: .ping
    case .pong: .pong
    case .clockRequest: .clockRequest
    case .clockReply: .clockReply
    case .feedback: .feedback
    case .failure: .failure
    case .deviceState: .deviceState
    case .sessionOpen: .sessionOpen
    case .sessionOpened: .sessionOpened
    case .sessionPaused: .sessionPaused
    case .sessionResumed: .sessionResumed
    case .sessionClose: .sessionClose
    case .sessionClosed: .sessionClosed
    case .streamStart: .streamStart
    case .streamStarted: .streamStarted
    case .streamChanged: .streamChanged
    case .streamStop: .streamStop
    case .streamStopped: .streamStopped
    case .keyframeRequest: .keyframeRequest
    case .audioChanged: .audioChanged
    case .photoRequest: .photoRequest
    case .photoResult: .photoResult
    case .pairingRequest: .pairingRequest
    case .pairingAccepted: .pairingAccepted
    case .unpair: .unpair
    case .glassesListing: .glassesListing
    case .glassesRemoved: .glassesRemoved
    case .glassesListed: .glassesListed
    case .certificateRequest: .certificateRequest
    case .certificateIssued: .certificateIssued
    case .pairGlasses: .pairGlasses
    case .unpairGlasses: .unpairGlasses
    case .companionAnswer: .companionAnswer
    }
  }
}
