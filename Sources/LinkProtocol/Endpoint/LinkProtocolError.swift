/// A rule of docs/protocol.md was broken, by the peer's bytes or by how this side uses the link.
package struct LinkProtocolError: Error, Hashable, Sendable {
  /// Which part found it.
  package enum Stage: UInt8, Hashable, Sendable, CaseIterable {
    case framing = 1, reassembly, decoding, hello, state, sending
  }

  package enum Cause: Hashable, Sendable {
    // Framing
    case unknownChannel(UInt8)
    case reservedFlags(UInt8)
    case emptyChunk
    case chunkOutsideUnit(offset: UInt32, length: UInt16, total: UInt32)
    case lastFlagWrong

    // Reassembly
    case unitTooLong(Channel, length: UInt32, limit: Int)
    case unitTooShort(Channel, length: UInt32)
    case totalChanged(Channel, sequence: UInt32)
    /// Control units are never dropped, so a missing one leaves the two sides with different pictures of the session.
    case controlUnitLost(before: UInt32)
    /// More bytes wait for missing ones than two of the longest units have.
    case assemblyOverflow(Channel)

    // Decoding
    case unknownType(UInt16)
    case truncated(field: String)
    case trailingBytes(Int)
    case badValue(field: String, value: UInt64)
    case badText(field: String)

    // Hello and state
    case notThisProtocol
    case versionMismatch(peer: ProtocolVersion)
    case roleMismatch(LinkRole)
    case helloMissing(MessageType?)
    case helloRepeated
    case wrongDirection(MessageType)
    case mediaFrom(LinkRole, Channel)
    /// Of a stream that outlives its connections.
    case unexpectedRecord(StreamRecord)

    // Sending
    case backlog(Channel)
  }

  package var cause: Cause
  package var stage: Stage

  package init(_ cause: Cause, stage: Stage) {
    self.cause = cause
    self.stage = stage
  }
}

extension LinkProtocolError: CustomStringConvertible {
  /// What is wrong, and what to do about it.
  package var description: String { "\(what); \(nextStep)" }

  /// What is wrong, in words.
  package var what: String {
    switch cause {
    case .unknownChannel(let channel): "chunk for channel \(channel), which does not exist"
    case .reservedFlags(let flags): "chunk with reserved flags set (\(flags))"
    case .emptyChunk: "chunk without payload"
    case .chunkOutsideUnit(let offset, let length, let total):
      "chunk of \(length) bytes at \(offset) reaches beyond its unit of \(total) bytes"
    case .lastFlagWrong: "chunk's last flag does not fit its place in the unit"
    case .unitTooLong(let channel, let length, let limit):
      "\(channel) unit of \(length) bytes, longer than the limit of \(limit)"
    case .unitTooShort(let channel, let length): "\(channel) unit of \(length) bytes, too short for its head"
    case .totalChanged(let channel, let sequence): "\(channel) unit \(sequence) changed its length between chunks"
    case .controlUnitLost(let sequence): "a message before number \(sequence) is missing"
    case .assemblyOverflow(let channel): "too many bytes of incomplete \(channel) units"
    case .unknownType(let type): "message of unknown type \(type)"
    case .truncated(let field): "message ends within \(field)"
    case .trailingBytes(let count): "message with \(count) bytes too many"
    case .badValue(let field, let value): "\(field) has the value \(value), which is not allowed"
    case .badText(let field): "\(field) is not UTF-8"
    case .notThisProtocol: "the peer does not speak this protocol"
    case .versionMismatch(let peer):
      "the peer speaks version \(peer.major).\(peer.minor), this side \(ProtocolVersion.current.major)."
        + "\(ProtocolVersion.current.minor)"
    case .roleMismatch(let role): "the peer's role, \(role), does not go with this side's"
    case .helloMissing(let type): "\(type.map { "\($0)" } ?? "media") before the hello"
    case .helloRepeated: "second hello"
    case .wrongDirection(let type): "\(type) from a side that may not send it"
    case .mediaFrom(let role, let channel): "\(channel) unit from \(role == .app ? "an app" : "a companion")"
    case .unexpectedRecord(let record): "\(record) where it has no place"
    case .backlog(let channel): "more \(channel) units wait than the link may hold, and none may be dropped"
    }
  }

  /// What can be done about it, in words.
  package var nextStep: String {
    switch cause {
    case .notThisProtocol: "check address and port"
    case .versionMismatch: "update the older side"
    case .roleMismatch: "connect apps and companions to glasses, and apps to a companion"
    case .backlog: "reconnect; the peer does not read, or the link is too slow"
    case .controlUnitLost: "reconnect; the transport loses bytes"
    case .unitTooLong, .unitTooShort:
      stage == .sending ? "send units within the limits" : "reconnect; report it to the maker of the peer's software"
    case .unknownChannel, .reservedFlags, .emptyChunk, .chunkOutsideUnit, .lastFlagWrong, .totalChanged,
      .assemblyOverflow, .unknownType, .truncated, .trailingBytes, .badValue, .badText, .helloMissing, .helloRepeated,
      .wrongDirection, .mediaFrom, .unexpectedRecord:
      "reconnect; report it to the maker of the peer's software"
    }
  }
}
