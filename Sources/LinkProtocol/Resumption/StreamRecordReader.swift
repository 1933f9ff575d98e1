/// Finds records in what a connection brings, in any portions. Bytes of the stream are passed on as they come, without
/// waiting for the rest of their record; so no more than a record's head is ever kept.
package struct StreamRecordReader: Sendable {
  package enum Item: Hashable, Sendable {
    /// Any but `data`.
    case record(StreamRecord)
    /// Bytes of the stream: where in the input.
    case bytes(Range<Int>)
  }

  private var head: [UInt8] = []
  /// Bytes of the stream that the record at hand still has.
  private var left = 0

  package init() {}

  /// The next item at or after `position`, which moves on behind it; nil when the input is used up.
  ///
  /// After an error the connection can't be read any further.
  package mutating func next(
    in bytes: [UInt8], from position: inout Int
  ) throws(LinkProtocolError) -> Item? {
    while position < bytes.count {
      if left > 0 {
        let taken = min(left, bytes.count - position)
        left -= taken
        defer { position += taken }
        return .bytes(position..<position + taken)
      }
      head.append(bytes[position])
      position += 1
      guard let kind = StreamRecord.Kind(rawValue: head[0]) else {
        throw LinkProtocolError(.badValue(field: "kind of record", value: UInt64(head[0])), stage: .framing)
      }
      guard head.count == 1 + kind.bodyLength else { continue }
      let record = try StreamRecord(kind, body: Array(head.dropFirst()))
      head.removeAll(keepingCapacity: true)
      guard case .data(let length) = record else { return .record(record) }
      left = length
    }
    return nil
  }
}
