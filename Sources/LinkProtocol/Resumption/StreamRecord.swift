import Units

/// What travels on one connection of a resumable stream; docs/protocol.md, "A stream that outlives its connections".
package enum StreamRecord: Hashable, Sendable {
  /// The client's first record on each connection: which stream, and how many of its bytes have arrived.
  case begin(StreamToken, received: UInt64)
  /// The server's answer, with the same of its side.
  case begun(StreamToken, received: UInt64)
  /// Instead of `begun`; the connection closes.
  case refused(Refusal)
  /// Bytes of the stream follow, so many.
  case data(length: Int)
  /// So many bytes have arrived since the stream began.
  case received(UInt64)
  /// The stream is over: nothing follows.
  case end

  /// Why a stream does not go on.
  package enum Refusal: UInt8, Hashable, Sendable, CaseIterable {
    /// The server does not know it: it was restarted, or has given the stream up.
    case unknownStream = 1
    /// The two ends' counts don't fit.
    case lost
    /// Another reason, of a newer server.
    case other
  }

  enum Kind: UInt8, Hashable, Sendable, CaseIterable {
    case begin = 1, begun, refused, data, received, end

    /// Bytes behind the kind.
    var bodyLength: Int {
      switch self {
      case .begin, .begun: StreamToken.length + 8
      case .refused: 1
      case .data: 2
      case .received: 8
      case .end: 0
      }
    }
  }

  /// Bytes in front of a run of the stream's.
  package static let dataHeadLength = 3
  /// Longest run of bytes behind one `data`.
  package static let longestRun = Int(UInt16.max)

  package var encoded: [UInt8] {
    var writer = ByteWriter(reserving: 32)
    switch self {
    case .begin(let token, let received):
      writer.value(Kind.begin)
      writer.fixed(token.bytes, count: StreamToken.length)
      writer.integer(received)
    case .begun(let token, let received):
      writer.value(Kind.begun)
      writer.fixed(token.bytes, count: StreamToken.length)
      writer.integer(received)
    case .refused(let refusal):
      writer.value(Kind.refused)
      writer.value(refusal)
    case .data(let length):
      writer.value(Kind.data)
      writer.integer(UInt16(clamping: length))
    case .received(let count):
      writer.value(Kind.received)
      writer.integer(count)
    case .end:
      writer.value(Kind.end)
    }
    return writer.bytes
  }

  /// - Parameter body: exactly the kind's length of bytes.
  init(_ kind: Kind, body: [UInt8]) throws(LinkProtocolError) {
    var reader = ByteReader(body)
    switch kind {
    case .begin: self = .begin(try Self.token(&reader), received: try reader.integer("received"))
    case .begun: self = .begun(try Self.token(&reader), received: try reader.integer("received"))
    case .refused: self = .refused(try reader.value("reason", else: .other))
    case .data: self = .data(length: Int(try reader.positive("length", as: UInt16.self)))
    case .received: self = .received(try reader.integer("received"))
    case .end: self = .end
    }
  }

  private static func token(_ reader: inout ByteReader) throws(LinkProtocolError) -> StreamToken {
    guard let token = StreamToken(try reader.fixed(StreamToken.length, "token")) else {
      throw LinkProtocolError(.truncated(field: "token"), stage: .decoding)
    }
    return token
  }
}
