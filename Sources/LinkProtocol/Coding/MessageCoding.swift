/// A message's body on the wire; docs/protocol.md has the layouts.
protocol WireBody {
  func encode(into writer: inout ByteWriter)
  init(from reader: inout ByteReader) throws(LinkProtocolError)
}

extension Message {
  /// The control unit: type, then body.
  package func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.value(type)
    body.encode(into: &writer)
    return writer.bytes
  }

  /// What one control unit says.
  ///
  /// - Parameter peerIsNewer: the peer speaks a newer minor version. Then types that this version does not know are
  ///   skipped, and so are fields after the ones it knows.
  /// - Returns: nil for a message to be skipped.
  package static func decode(_ unit: [UInt8], peerIsNewer: Bool = false) throws(LinkProtocolError) -> Message? {
    var reader = ByteReader(unit)
    let code: UInt16 = try reader.integer("type")
    guard let type = MessageType(rawValue: code) else {
      if peerIsNewer { return nil }
      throw LinkProtocolError(.unknownType(code), stage: .decoding)
    }
    let message = try Message(type, from: &reader)
    guard reader.remaining == 0 || peerIsNewer else {
      throw LinkProtocolError(.trailingBytes(reader.remaining), stage: .decoding)
    }
    return message
  }

  private var body: any WireBody {
    switch self {
    case .hello(let body): body
    case .goodbye(let body): body
    case .ping(let body), .pong(let body): body
    case .clockRequest(let body): body
    case .clockReply(let body): body
    case .feedback(let body): body
    case .failure(let body): body
    case .deviceState(let body): body
    case .sessionOpen(let body): body
    case .sessionOpened(let body): body
    case .sessionPaused(let body): body
    case .sessionResumed(let body): body
    case .sessionClose(let body): body
    case .sessionClosed(let body): body
    case .streamStart(let body): body
    case .streamStarted(let body): body
    case .streamChanged(let body): body
    case .streamStop(let body): body
    case .streamStopped(let body): body
    case .keyframeRequest(let body): body
    case .audioChanged(let body): body
    case .photoRequest(let body): body
    case .photoResult(let body): body
    case .pairingRequest(let body): body
    case .pairingAccepted(let body): body
    case .unpair(let body): body
    case .glassesListing(let body): body
    case .glassesRemoved(let body): body
    case .glassesListed(let body): body
    case .certificateRequest(let body): body
    case .certificateIssued(let body): body
    case .pairGlasses(let body): body
    case .unpairGlasses(let body): body
    case .companionAnswer(let body): body
    }
  }

  private init(_ type: MessageType, from reader: inout ByteReader) throws(LinkProtocolError) {
    switch type {
    case .hello: self = .hello(try Hello(from: &reader))
    case .goodbye: self = .goodbye(try Goodbye(from: &reader))
    case .ping: self = .ping(try Ping(from: &reader))
    case .pong: self = .pong(try Ping(from: &reader))
    case .clockRequest: self = .clockRequest(try ClockRequest(from: &reader))
    case .clockReply: self = .clockReply(try ClockReply(from: &reader))
    case .feedback: self = .feedback(try Feedback(from: &reader))
    case .failure: self = .failure(try Failure(from: &reader))
    case .deviceState: self = .deviceState(try DeviceStateReport(from: &reader))
    case .sessionOpen: self = .sessionOpen(try SessionOpen(from: &reader))
    case .sessionOpened: self = .sessionOpened(try SessionOpened(from: &reader))
    case .sessionPaused: self = .sessionPaused(try SessionPaused(from: &reader))
    case .sessionResumed: self = .sessionResumed(try SessionResumed(from: &reader))
    case .sessionClose: self = .sessionClose(try SessionClose(from: &reader))
    case .sessionClosed: self = .sessionClosed(try SessionClosed(from: &reader))
    case .streamStart: self = .streamStart(try StreamStart(from: &reader))
    case .streamStarted: self = .streamStarted(try StreamStarted(from: &reader))
    case .streamChanged: self = .streamChanged(try StreamChanged(from: &reader))
    case .streamStop: self = .streamStop(try StreamStop(from: &reader))
    case .streamStopped: self = .streamStopped(try StreamStopped(from: &reader))
    case .keyframeRequest: self = .keyframeRequest(try KeyframeRequest(from: &reader))
    case .audioChanged: self = .audioChanged(try AudioChanged(from: &reader))
    case .photoRequest: self = .photoRequest(try PhotoRequest(from: &reader))
    case .photoResult: self = .photoResult(try PhotoResult(from: &reader))
    case .pairingRequest: self = .pairingRequest(try PairingRequest(from: &reader))
    case .pairingAccepted: self = .pairingAccepted(try PairingAccepted(from: &reader))
    case .unpair: self = .unpair(try Unpair(from: &reader))
    case .glassesListing: self = .glassesListing(try GlassesListing(from: &reader))
    case .glassesRemoved: self = .glassesRemoved(try GlassesRemoved(from: &reader))
    case .glassesListed: self = .glassesListed(try GlassesListed(from: &reader))
    case .certificateRequest: self = .certificateRequest(try CertificateRequest(from: &reader))
    case .certificateIssued: self = .certificateIssued(try CertificateIssued(from: &reader))
    case .pairGlasses: self = .pairGlasses(try PairGlasses(from: &reader))
    case .unpairGlasses: self = .unpairGlasses(try UnpairGlasses(from: &reader))
    case .companionAnswer: self = .companionAnswer(try CompanionAnswer(from: &reader))
    }
  }
}

// MARK: - Identities

extension ByteReader {
  mutating func session() throws(LinkProtocolError) -> SessionID { SessionID(try positive("session")) }
  mutating func stream() throws(LinkProtocolError) -> StreamID { StreamID(try positive("stream")) }
  mutating func photo() throws(LinkProtocolError) -> PhotoID { PhotoID(try positive("photo")) }
}
