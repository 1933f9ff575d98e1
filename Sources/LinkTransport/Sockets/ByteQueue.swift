/// Bytes that wait to be sent, in the pieces in which they were written. No bound of its own: writers ask for the room.
struct ByteQueue {
  private var pieces: [[UInt8]] = []
  private var firstPiece = 0
  /// Of the first piece what has left.
  private var sent = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func append(_ bytes: [UInt8], from start: Int = 0) {
    guard start < bytes.count else { return }
    if isEmpty { removeAll() }
    if pieces.isEmpty { sent = start }
    pieces.append(pieces.isEmpty || start == 0 ? bytes : Array(bytes[start...]))
    count += bytes.count - start
  }

  /// Hands the next bytes to `send`, which says how many it took, until it takes none or nothing waits.
  mutating func drain(_ send: (UnsafeRawBufferPointer) -> Int) {
    while firstPiece < pieces.count {
      let taken = pieces[firstPiece].withUnsafeBytes { send(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
      guard taken > 0 else { return }
      sent += taken
      count -= taken
      if sent == pieces[firstPiece].count {
        pieces[firstPiece] = []
        firstPiece += 1
        sent = 0
        // Those that left are forgotten once they are most, so that each is moved about once.
        if firstPiece > 16, firstPiece * 2 > pieces.count {
          pieces.removeFirst(firstPiece)
          firstPiece = 0
        }
      }
    }
    removeAll()
  }

  mutating func removeAll() {
    pieces = []
    firstPiece = 0
    sent = 0
    count = 0
  }
}
