import Units

/// One unit on its way in: what has arrived without a gap, and pieces beyond one.
struct UnitAssembly: Sendable {
  let sequence: SerialNumber
  let total: Int
  private let headLength: Int
  private(set) var head: [UInt8] = []
  private(set) var body: [UInt8] = []
  /// Pieces beyond a gap, by rising offset, without overlap.
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

  /// Keeps what is new of a piece beyond a gap. The pieces held don't overlap, so they are never more than the unit.
  private mutating func hold(_ piece: ArraySlice<UInt8>, at offset: Int, limit: Int) -> Int {
    let end = offset + piece.count
    var position = offset
    var kept: [(offset: Int, bytes: [UInt8])] = []
    func part(_ from: Int, _ to: Int) -> [UInt8] {
      Array(piece[piece.startIndex + from - offset..<piece.startIndex + to - offset])
    }
    for known in ahead where known.offset < end && known.offset + known.bytes.count > position {
      if known.offset > position { kept.append((position, part(position, known.offset))) }
      position = max(position, known.offset + known.bytes.count)
    }
    if position < end { kept.append((position, part(position, end))) }
    let new = kept.reduce(0) { $0 + $1.bytes.count }
    // Beyond the bound a piece is let go; the unit is then completed by a repeat, or is lost.
    guard !kept.isEmpty, ahead.count + kept.count <= limit else { return piece.count - new }
    for part in kept {
      let place = ahead.firstIndex { $0.offset > part.offset } ?? ahead.endIndex
      ahead.insert(part, at: place)
    }
    aheadBytes += new
    return piece.count - new
  }
}
