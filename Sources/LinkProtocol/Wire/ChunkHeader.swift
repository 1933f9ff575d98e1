/// What stands before each chunk: 16 bytes, network byte order.
///
///     0      1      2         4                8        12              16
///     channel flags  length    sequence         offset   total length    payload …
package struct ChunkHeader: Hashable, Sendable {
  package static let length = 16
  /// Bit 0 of the flags; the others are zero.
  package static let lastFlag: UInt8 = 1

  /// As it stands on the wire: a newer minor version may have channels that this one skips.
  package var channel: UInt8
  /// Bytes of payload, 1 to 65535.
  package var payloadLength: UInt16
  /// The unit's number on its channel.
  package var sequence: UInt32
  /// Where the payload belongs in the unit.
  package var offset: UInt32
  /// The unit's whole length.
  package var total: UInt32

  package init(channel: UInt8, payloadLength: UInt16, sequence: UInt32, offset: UInt32, total: UInt32) {
    self.channel = channel
    self.payloadLength = payloadLength
    self.sequence = sequence
    self.offset = offset
    self.total = total
  }

  package var isLast: Bool { UInt64(offset) + UInt64(payloadLength) == UInt64(total) }

  package func append(to bytes: inout [UInt8]) {
    bytes.append(channel)
    bytes.append(isLast ? Self.lastFlag : 0)
    bytes.append(bigEndian: payloadLength)
    bytes.append(bigEndian: sequence)
    bytes.append(bigEndian: offset)
    bytes.append(bigEndian: total)
  }

  /// Checks all that can be checked without knowing the channel's state.
  ///
  /// - Parameter bytes: exactly `length` of them.
  package init(_ bytes: [UInt8]) throws(LinkProtocolError) {
    var reader = ByteReader(bytes)
    channel = try reader.integer("channel")
    let flags: UInt8 = try reader.integer("flags")
    payloadLength = try reader.integer("length")
    sequence = try reader.integer("sequence")
    offset = try reader.integer("offset")
    total = try reader.integer("total")
    guard flags & ~Self.lastFlag == 0 else { throw LinkProtocolError(.reservedFlags(flags), stage: .framing) }
    guard payloadLength > 0 else { throw LinkProtocolError(.emptyChunk, stage: .framing) }
    guard UInt64(offset) + UInt64(payloadLength) <= UInt64(total) else {
      throw LinkProtocolError(
        .chunkOutsideUnit(offset: offset, length: payloadLength, total: total), stage: .framing)
    }
    guard (flags == Self.lastFlag) == isLast else { throw LinkProtocolError(.lastFlagWrong, stage: .framing) }
  }
}
