import Units

/// One unit on its way in: what has arrived without a gap, and pieces beyond one.
struct UnitAssembly: Sendable {
  let sequence: SerialNumber
  let total: Int
  private let headLength: Int
  private(set) var head: [UInt8] = []
  private(set) var body: [UInt8] = []
  /// Pieces beyond a gap, by rising offset.
  private var ahead: [(offset: Int, bytes: [UInt8])] = []
  private var aheadBytes = 0
  /// When the last byte came.
  private(set) var completed: Instant?

  /// Most that is reserved on a peer's word alone; a longer unit grows as it arrives.
  private static let trustedReservation = 1_048_576

  init(sequence: SerialNumber, total: Int, headLength: Int) {
    self.sequence = sequence
    self.total = total
    self.headLength = headLength
    head.reserveCapacity(headLength)
    body.reserveCapacity(min(total - headLength, Self.trustedReservation))
  }

  /// Bytes from the unit's beginning without a gap.
  var contiguous: Int { head.count + body.count }
  var bytesHeld: Int { contiguous + aheadBytes }
  var isComplete: Bool { completed != nil }

  /// Takes a piece in. Bytes that are there already are not replaced.
  ///
  /// - Returns: how many of its bytes were there already.
  mutating func add(_ piece: ArraySlice<UInt8>, at offset: Int, piecesAhead limit: Int, now: Instant) -> Int {
    guard offset <= contiguous else { return hold(piece, at: offset, limit: limit) }
    let repeated = append(piece, at: offset)
    while let first = ahead.first, first.offset <= contiguous {
      ahead.removeFirst()
      aheadBytes -= first.bytes.count
      _ = append(first.bytes[...], at: first.offset)
    }
    if contiguous == total, completed == nil { completed = now }
    return repeated
  }

  private mutating func append(_ piece: ArraySlice<UInt8>, at offset: Int) -> Int {
    let repeated = min(piece.count, contiguous - offset)
    var new = piece.dropFirst(repeated)
    if head.count < headLength {
      let part = new.prefix(headLength - head.count)
      head.append(contentsOf: part)
      new = new.dropFirst(part.count)
    }
    if !new.isEmpty { body.append(contentsOf: new) }
    return repeated
  }

  private mutating func hold(_ piece: ArraySlice<UInt8>, at offset: Int, limit: Int) -> Int {
    let place = ahead.firstIndex { $0.offset >= offset } ?? ahead.endIndex
    if place < ahead.endIndex, ahead[place].offset == offset {
      let known = ahead[place].bytes.count
      guard piece.count > known else { return piece.count }
      // The longer one of two that begin alike.
      ahead[place].bytes = Array(piece)
      aheadBytes += piece.count - known
      return known
    }
    // Beyond the bound the piece is let go; the unit is then completed by a repeat, or is lost.
    guard ahead.count < limit, aheadBytes + piece.count <= total else { return 0 }
    ahead.insert((offset, Array(piece)), at: place)
    aheadBytes += piece.count
    return 0
  }
}
