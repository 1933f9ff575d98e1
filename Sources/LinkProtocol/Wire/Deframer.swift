/// Finds the chunks in a stream of bytes that comes in any portions.
///
/// Payload is passed on as it arrives, as pieces that say where they belong: a chunk that two inputs share gives two
/// pieces. So no more than a header is ever kept here, and no payload is copied.
package struct Deframer: Sendable {
  /// A run of payload bytes within one input.
  package struct Piece: Hashable, Sendable {
    package var channel: UInt8
    package var sequence: UInt32
    package var offset: Int
    package var total: Int
    /// Where in the input.
    package var range: Range<Int>
  }

  private var header: [UInt8] = []
  /// The chunk being read and how much of its payload has passed.
  private var current: (header: ChunkHeader, passed: Int)?

  package init() {}

  /// The next piece at or after `position`, which moves on behind it; nil when the input is used up.
  ///
  /// After an error the stream can't be read any further.
  package mutating func next(
    in bytes: [UInt8], from position: inout Int
  ) throws(LinkProtocolError) -> Piece? {
    if current == nil {
      let taken = min(ChunkHeader.length - header.count, bytes.count - position)
      header.append(contentsOf: bytes[position..<position + taken])
      position += taken
      guard header.count == ChunkHeader.length else { return nil }
      current = (try ChunkHeader(header), 0)
      header.removeAll(keepingCapacity: true)
    }
    guard let (chunk, passed) = current, position < bytes.count else { return nil }
    let length = Int(chunk.payloadLength)
    let taken = min(length - passed, bytes.count - position)
    defer {
      position += taken
      current = passed + taken == length ? nil : (chunk, passed + taken)
    }
    return Piece(
      channel: chunk.channel, sequence: chunk.sequence, offset: Int(chunk.offset) + passed, total: Int(chunk.total),
      range: position..<position + taken)
  }
}
