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
    case controlUnitLost(sequence: UInt32)

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
    case mediaFromApp(Channel)

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
