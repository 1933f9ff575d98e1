import LinkProtocol
import Units

/// Units that wait for the decoder, oldest first, as a value.
///
/// Bound: `ageLimit` between the oldest and the newest, `countLimit` units, and `byteLimit`. Drop rule: when it runs
/// over, everything before the newest sync unit goes; with no sync unit behind the first, everything goes, and what follows is withheld
/// until one comes. Nothing else may be dropped: a picture whose reference is missing decodes to a wrong one.
///
/// A decoder that begins between two sync units catches up: it is given the units from the last sync unit on, whose
/// pictures nobody sees, and works as fast as it can until it is up to the present, or until a sync unit comes, which
/// makes the rest needless. Once a picture was seen, a sync unit is gone to if what waits is over `ageLimit`, marked and
/// counted, so that a decoder no faster than the source isn't late for longer than a group of pictures. Until then the
/// queue holds `catchUpLimit` units, however old, but no more than `byteLimit`.
package struct DecodeQueue: Sendable {
  package struct Entry: Sendable {
    package var unit: ReceivedUnit
    package var isDiscontinuity: Bool
    /// False for what came before anybody listened: later pictures need it.
    package var isShown = true
  }

  package enum Offered: Hashable, Sendable {
    /// `endsWait`: it is the sync unit that was waited for, and so many units were withheld before it.
    case queued(endsWait: UInt64?)
    /// It depends on units that the decoder did not get; `asks` where a wait begins, so that a sync unit is needed.
    case withheld(asks: Bool)
    /// It is a sync unit and makes so many units needless by which the decoder was catching up.
    case caughtUp(skipped: Int)
    /// The queue ran over, and something was dropped.
    case ranOver(Drop)
  }

  /// What was dropped so that the decoder can go on.
  package struct Drop: Hashable, Sendable {
    /// Those that would have been seen.
    package var units: Int
    /// No sync unit waits, so that one is needed.
    package var asks: Bool

    package init(units: Int, asks: Bool) {
      self.units = units
      self.asks = asks
    }
  }

  package static let ageLimit: Duration = .milliseconds(500)
  /// The fastest stream fills half of it in `ageLimit`.
  package static let countLimit = 32
  /// A group of pictures, and as long a one while it is decoded.
  package static let catchUpLimit = 2 * RecentUnits.countLimit
  /// The same in bytes.
  package static let byteLimit = 2 * RecentUnits.byteLimit

  private var entries: [Entry] = []
  /// Of all entries.
  private var bytes = 0
  private var gate = LossGate()
  private var hasBegun = false
  /// The oldest entries are those that the decoder catches up by, or waited for them.
  package private(set) var isCatchingUp = false

  package init() {}

  package var count: Int { entries.count }

  /// - Parameter earlier: the units that this one depends on, from a sync unit on, if somebody has them; asked for where the
  ///   decoder begins with one that is no sync unit.
  package mutating func offer(
    _ unit: ReceivedUnit, isDiscontinuity: Bool, earlier: () -> [ReceivedUnit] = { [] }
  ) -> Offered {
    let isSync = unit.unit.flags.contains(.sync)
    if !hasBegun {
      hasBegun = true
      if !isSync { catchUp(by: earlier()) }
    }
    let wasWaiting = gate.isWaiting
    let verdict = gate.admit(
      sequence: unit.sequence, flags: unit.unit.flags, lostBefore: isDiscontinuity ? 1 : 0)
    switch verdict {
    case .withhold(let asks):
      return .withheld(asks: asks)
    case .deliver(let isMarked):
      append(Entry(unit: unit, isDiscontinuity: isMarked))
    }
    if isSync, let skipped = skipToNewest() { return .caughtUp(skipped: skipped) }
    if isOver { return .ranOver(dropToSync(from: 1)) }
    return .queued(endsWait: wasWaiting ? gate.withheldInWait : nil)
  }

  /// - Returns: also whether another one is to be taken though nothing may be offered: those that the decoder catches up by
  ///   came at once.
  package mutating func next() -> (entry: Entry, isCatchingUp: Bool)? {
    guard !entries.isEmpty else { return nil }
    let entry = entries[0]
    removeFirst(1)
    defer {
      if let oldest = entries.first, let newest = entries.last {
        if oldest.isShown, !isOld(from: oldest.unit.arrived, to: newest.unit.arrived) { isCatchingUp = false }
      } else {
        isCatchingUp = false
      }
    }
    return (entry, isCatchingUp)
  }

  private mutating func catchUp(by units: [ReceivedUnit]) {
    for unit in units {
      guard case .deliver = gate.admit(sequence: unit.sequence, flags: unit.unit.flags, lostBefore: 0) else { break }
      // What was missing before it was not missing for anybody who sees it.
      append(Entry(unit: unit, isDiscontinuity: false, isShown: false))
    }
    isCatchingUp = !entries.isEmpty
  }

  /// A sync unit waits at the end: the decoder can begin there, as long as nobody has seen a picture from before.
  /// - Returns: how many units were skipped that would have been seen; nil when there was nothing to skip.
  private mutating func skipToNewest() -> Int? {
    guard isCatchingUp, let oldest = entries.first, !oldest.isShown else { return nil }
    let skipped = entries.dropLast().count { $0.isShown }
    removeFirst(entries.count - 1)
    isCatchingUp = false
    return skipped
  }

  /// The decoder refused the unit that it took last: what depends on it is of no use.
  package mutating func decoderFailed() -> Drop { dropToSync(from: 0) }

  private mutating func append(_ entry: Entry) {
    entries.append(entry)
    bytes = bytes.addingSaturating(entry.unit.unit.payload.count)
  }

  private mutating func removeFirst(_ count: Int) {
    for entry in entries.prefix(count) { bytes = bytes.subtractingSaturating(entry.unit.unit.payload.count) }
    entries.removeFirst(count)
  }

  private var isOver: Bool {
    // One that comes alone is taken, whatever its size.
    guard entries.count > 1, let oldest = entries.first, let newest = entries.last else { return false }
    if bytes > Self.byteLimit { return true }
    let isOld = isOld(from: oldest.unit.arrived, to: newest.unit.arrived)
    guard isCatchingUp else { return isOld }
    if entries.count > Self.catchUpLimit { return true }
    return isOld && newest.unit.unit.flags.contains(.sync)
  }

  private func isOld(from oldest: Instant, to newest: Instant) -> Bool {
    entries.count > Self.countLimit || newest - oldest > Self.ageLimit
  }

  /// Drops all before the newest sync unit that is not among the first `kept` units; all if there is none.
  private mutating func dropToSync(from kept: Int) -> Drop {
    isCatchingUp = false
    if let sync = entries.lastIndex(where: { $0.unit.unit.flags.contains(.sync) }), sync >= kept {
      let seen = entries.prefix(sync).count { $0.isShown }
      removeFirst(sync)
      entries[0].isDiscontinuity = true
      return Drop(units: seen, asks: false)
    }
    let seen = entries.count { $0.isShown }
    removeFirst(entries.count)
    return Drop(units: seen, asks: gate.lose())
  }
}
