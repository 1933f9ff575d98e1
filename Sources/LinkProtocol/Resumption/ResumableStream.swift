import Units

/// One end of a stream of bytes that outlives the connections it travels on: what had not arrived when one broke is sent
/// again on the next, so neither end of the link above notices more than a pause.
///
/// A value: bytes and news of connections go in, bytes and events come out. It reads no clock; how long an end waits for a
/// connection is its owner's business.
package struct ResumableStream: Sendable {
  package enum Output: Hashable, Sendable {
    /// To the connection at hand.
    case send([UInt8])
    /// To whoever reads the stream.
    case deliver([UInt8])
    /// On the client: the connection carries the stream from now on. The first time it has got its name.
    case attached(StreamToken)
    /// On the client: the server won't go on. The stream is over.
    case refused(StreamRecord.Refusal)
    /// The peer has ended the stream.
    case ended
  }

  private enum Phase: Hashable, Sendable {
    /// No connection.
    case detached
    /// The client has said which stream it wants, and has no answer.
    case greeting
    case attached
    /// Ended by this side, by the peer, or by a refusal.
    case over
  }

  private enum Role: Hashable, Sendable { case client, server }

  /// How many bytes may be on their way without being acknowledged: 256 KiB, so that 40 Mbit/s pass at a round trip of
  /// 50 ms, and a hundred streams in one process stay within some 25 MB.
  package static let window = 262_144
  /// How many bytes arrive between two acknowledgements.
  static let acknowledgedEvery = window / 8

  private let role: Role
  package private(set) var token: StreamToken
  private var phase = Phase.detached
  private var reader = StreamRecordReader()
  /// Sent and not known to have arrived, oldest first; the first of them from `skipped` on.
  private var unacknowledged = FIFO<[UInt8]>()
  private var skipped = 0
  /// Of the stream: what the peer is known to have, and what was ever given in here.
  private var acknowledged: UInt64 = 0
  private var written: UInt64 = 0
  /// Of the peer's stream: what has arrived, and what of it was acknowledged.
  private var arrived: UInt64 = 0
  private var told: UInt64 = 0

  /// The end that connects.
  package init() {
    role = .client
    token = .none
  }

  /// The end that is connected to.
  package init(token: StreamToken) {
    role = .server
    self.token = token
  }

  package var isOver: Bool { phase == .over }
  /// Whether a connection carries the stream now.
  package var isAttached: Bool { phase == .attached }
  /// Bytes that were written and are not known to have arrived.
  package var bytesUnderWay: Int { Int(clamping: written - acknowledged) }
  /// How many bytes may be written; none while there is no connection, so that what waits stays where it can be dropped.
  package var room: Int { isAttached ? max(0, Self.window - bytesUnderWay) : 0 }

  // MARK: - Connections

  /// On the client: a connection is up.
  package mutating func connected() -> [Output] {
    guard role == .client, phase != .over else { return [] }
    reader = StreamRecordReader()
    phase = .greeting
    return [.send(StreamRecord.begin(token, received: arrived).encoded)]
  }

  /// On the server: a connection is up whose `begin` names this stream. It takes the place of an earlier one.
  ///
  /// - Parameters:
  ///   - count: how many bytes have arrived at the client, by its `begin`.
  ///   - reader: which has read that record, and goes on with what is behind it.
  package mutating func connected(received count: UInt64, reader: StreamRecordReader) -> [Output] {
    guard role == .server, phase != .over else { return [.send(StreamRecord.refused(.unknownStream).encoded)] }
    guard acknowledge(count) else {
      phase = .over
      return [.send(StreamRecord.refused(.lost).encoded), .refused(.lost)]
    }
    self.reader = reader
    phase = .attached
    told = arrived
    return [.send(StreamRecord.begun(token, received: arrived).encoded)] + resending()
  }

  /// The connection is gone.
  package mutating func disconnected() {
    guard phase != .over else { return }
    phase = .detached
  }

  // MARK: - Bytes

  /// Bytes of the stream, taken whole whatever `room` says; without a connection they leave with the next. After the end
  /// they are dropped.
  package mutating func write(_ bytes: [UInt8]) -> [Output] {
    guard phase != .over, !bytes.isEmpty else { return [] }
    written += UInt64(bytes.count)
    unacknowledged.append(bytes)
    return isAttached ? Self.records(bytes[...]) : []
  }

  /// This side is done: what was written is followed by the end. Without a connection nobody hears of it.
  package mutating func end() -> [Output] {
    defer { phase = .over }
    return isAttached ? [.send(StreamRecord.end.encoded)] : []
  }

  /// Bytes of the connection, in any portions. After an error, the stream is over.
  package mutating func received(_ bytes: [UInt8]) throws(LinkProtocolError) -> [Output] {
    var outputs: [Output] = []
    var position = 0
    do throws(LinkProtocolError) {
      while phase == .greeting || phase == .attached, let item = try reader.next(in: bytes, from: &position) {
        switch item {
        case .bytes(let range):
          guard phase == .attached else { throw Self.unexpected(.data(length: range.count)) }
          arrived += UInt64(range.count)
          outputs.append(.deliver(range == bytes.indices ? bytes : Array(bytes[range])))
        case .record(let record):
          outputs += try take(record)
        }
      }
    } catch {
      phase = .over
      throw error
    }
    if isAttached, arrived - told >= UInt64(Self.acknowledgedEvery) {
      told = arrived
      outputs.append(.send(StreamRecord.received(arrived).encoded))
    }
    return outputs
  }

  private mutating func take(_ record: StreamRecord) throws(LinkProtocolError) -> [Output] {
    switch (record, phase, role) {
    case (.begun(let token, let count), .greeting, .client):
      guard self.token == .none || self.token == token, token != .none, acknowledge(count) else {
        throw LinkProtocolError(.badValue(field: "begun", value: count), stage: .state)
      }
      self.token = token
      phase = .attached
      told = arrived
      return [.attached(token)] + resending()
    case (.refused(let refusal), .greeting, .client):
      phase = .over
      return [.refused(refusal)]
    case (.received(let count), .attached, _):
      guard acknowledge(count) else {
        throw LinkProtocolError(.badValue(field: "received", value: count), stage: .state)
      }
      return []
    case (.end, .attached, _):
      phase = .over
      return [.ended]
    case (.begin, _, _), (.begun, _, _), (.refused, _, _), (.data, _, _), (.received, _, _), (.end, _, _):
      throw Self.unexpected(record)
    }
  }

  /// - Returns: false for a count that can't be: of bytes that were never written, or fewer than were told before.
  private mutating func acknowledge(_ count: UInt64) -> Bool {
    guard count >= acknowledged, count <= written else { return false }
    var left = Int(clamping: count - acknowledged)
    acknowledged = count
    while left > 0, let first = unacknowledged.first {
      let rest = first.count - skipped
      guard rest <= left else {
        skipped += left
        break
      }
      left -= rest
      skipped = 0
      _ = unacknowledged.popFirst()
    }
    return true
  }

  private func resending() -> [Output] {
    var outputs: [Output] = []
    for (index, bytes) in unacknowledged.waiting.enumerated() {
      outputs += Self.records(index == 0 ? bytes[skipped...] : bytes[...])
    }
    return outputs
  }

  private static func records(_ bytes: ArraySlice<UInt8>) -> [Output] {
    var outputs: [Output] = []
    var rest = bytes
    while !rest.isEmpty {
      let run = rest.prefix(StreamRecord.longestRun)
      outputs.append(.send(StreamRecord.data(length: run.count).encoded + run))
      rest = rest.dropFirst(run.count)
    }
    return outputs
  }

  private static func unexpected(_ record: StreamRecord) -> LinkProtocolError {
    LinkProtocolError(.unexpectedRecord(record), stage: .state)
  }
}
