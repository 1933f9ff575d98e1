import Units

/// Puts the units of one channel together and gives them out in order.
///
/// Chunks may come in any order, repeat, overlap and change their size. A unit that is whole waits for an earlier one
/// that is not, for at most the channel's patience; then the earlier one counts as lost. On the control channel, where
/// nothing may be lost, that is an error instead.
struct ChannelReassembler: Sendable {
  struct Rules: Sendable {
    var channel: Channel
    var headLength: Int
    /// Longest and shortest unit.
    var unitLimit: Int
    var unitMinimum: Int
    /// Units that may be incomplete or wait.
    var unitsInAssembly: Int
    var piecesAhead: Int
    var patience: Duration
    /// Whether a lost unit ends the link.
    var losesNothing: Bool
  }

  struct WholeUnit: Sendable {
    var sequence: UInt32
    var head: [UInt8]
    var body: [UInt8]
    var completed: Instant
    /// Units lost on the channel up to this one.
    var lostSoFar: UInt64
  }

  private let rules: Rules
  /// The earliest unit that has been neither given out nor given up.
  private var next: SerialNumber
  /// By rising number, all from `next` on.
  private var assemblies: [UnitAssembly] = []
  private var whole: [WholeUnit] = []
  private var bytesHeld = 0

  private(set) var lostUnits: UInt64 = 0
  private(set) var repeatedBytes: UInt64 = 0

  init(rules: Rules, firstSequence: UInt32) {
    self.rules = rules
    next = SerialNumber(firstSequence)
  }

  /// The units that have begun to arrive and were not given out, as far as they are here without a gap.
  var progress: [(head: [UInt8], received: Int, total: Int)] {
    assemblies.map { ($0.head, $0.body.count, $0.total - rules.headLength) }
  }

  mutating func add(_ piece: Deframer.Piece, of bytes: [UInt8], at now: Instant) throws(LinkProtocolError) {
    try check(piece)
    let sequence = SerialNumber(piece.sequence)
    let distance = next.distance(to: sequence)
    guard distance < 1 << 31 else {
      // Of a unit that was given out or given up.
      repeatedBytes += UInt64(piece.range.count)
      return
    }
    if distance >= UInt32(clamping: rules.unitsInAssembly) {
      try giveUp(before: sequence.advanced(by: 1 &- UInt32(clamping: rules.unitsInAssembly)))
    }
    let index = try assemblyIndex(for: sequence, total: piece.total)
    let heldBefore = assemblies[index].bytesHeld
    let repeated = assemblies[index].add(
      bytes[piece.range], at: piece.offset, piecesAhead: rules.piecesAhead, now: now)
    repeatedBytes += UInt64(repeated)
    bytesHeld += assemblies[index].bytesHeld - heldBefore
    // Two units of the longest kind: one that arrives and one that waits. Ordinary ones are far below.
    guard bytesHeld <= rules.unitLimit.multipliedSaturating(by: 2) else {
      throw LinkProtocolError(.assemblyOverflow(rules.channel), stage: .reassembly)
    }
    giveOut()
  }

  mutating func nextUnit() -> WholeUnit? { whole.isEmpty ? nil : whole.removeFirst() }

  /// When a whole unit has waited long enough for the ones before it.
  var nextDeadline: Instant? {
    // Asked after each step of the link, and nearly always there is none.
    guard !assemblies.isEmpty else { return nil }
    return assemblies.lazy.compactMap(\.completed).min().map { $0 + rules.patience }
  }

  mutating func timeout(at now: Instant) throws(LinkProtocolError) {
    guard let due = assemblies.last(where: { $0.completed.map { $0 + rules.patience <= now } ?? false }) else { return }
    try giveUp(before: due.sequence)
    giveOut()
  }

  /// What is whole waits no longer for what is not.
  mutating func giveOutWhole() throws(LinkProtocolError) {
    guard let last = assemblies.last(where: \.isComplete) else { return }
    try giveUp(before: last.sequence)
    giveOut()
  }

  // MARK: -

  private func check(_ piece: Deframer.Piece) throws(LinkProtocolError) {
    guard piece.total <= rules.unitLimit else {
      throw LinkProtocolError(
        .unitTooLong(rules.channel, length: UInt32(clamping: piece.total), limit: rules.unitLimit),
        stage: .reassembly)
    }
    guard piece.total >= rules.unitMinimum else {
      throw LinkProtocolError(
        .unitTooShort(rules.channel, length: UInt32(clamping: piece.total)), stage: .reassembly)
    }
  }

  private mutating func assemblyIndex(
    for sequence: SerialNumber, total: Int
  ) throws(LinkProtocolError) -> Int {
    // Nearly always the last one, so the search goes from the end.
    var index = assemblies.endIndex
    while index > 0, !assemblies[index - 1].sequence.precedes(sequence) {
      index -= 1
      guard assemblies[index].sequence == sequence else { continue }
      guard assemblies[index].total == total else {
        throw LinkProtocolError(
          .totalChanged(rules.channel, sequence: sequence.value), stage: .reassembly)
      }
      return index
    }
    assemblies.insert(
      UnitAssembly(sequence: sequence, total: total, headLength: rules.headLength), at: index)
    return index
  }

  /// Moves on to a unit: what is whole before it is given out, the rest is lost.
  private mutating func giveUp(before sequence: SerialNumber) throws(LinkProtocolError) {
    guard next.precedes(sequence) else { return }
    let lostBefore = lostUnits
    while let first = assemblies.first, first.sequence.precedes(sequence) {
      lostUnits += UInt64(next.distance(to: first.sequence)) + (first.isComplete ? 0 : 1)
      takeFirst()
      next = first.sequence.advanced(by: 1)
    }
    lostUnits += UInt64(next.distance(to: sequence))
    next = sequence
    if rules.losesNothing, lostUnits > lostBefore {
      throw LinkProtocolError(.controlUnitLost(before: sequence.value), stage: .reassembly)
    }
  }

  private mutating func giveOut() {
    while let first = assemblies.first, first.sequence == next, first.isComplete {
      takeFirst()
      next = next.advanced(by: 1)
    }
  }

  private mutating func takeFirst() {
    let unit = assemblies.removeFirst()
    bytesHeld -= unit.bytesHeld
    guard let completed = unit.completed else { return }
    whole.append(
      WholeUnit(
        sequence: unit.sequence.value, head: unit.head, body: unit.body, completed: completed, lostSoFar: lostUnits))
  }
}
