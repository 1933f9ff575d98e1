import LinkProtocol
import Units

/// Units that wait for the decoder, oldest first, as a value.
///
/// Bound: `ageLimit` between the oldest and the newest, and `countLimit` units. Drop rule: when it runs over, everything
/// before the newest sync unit goes; with no sync unit behind the first, everything goes, and what follows is withheld
/// until one comes. Nothing else may be dropped: a picture whose reference is missing decodes to a wrong one.
package struct DecodeQueue: Sendable {
  package struct Entry: Sendable {
    package var unit: ReceivedUnit
    package var isDiscontinuity: Bool
  }

  package enum Offered: Hashable, Sendable {
    /// `endsWait`: it is the sync unit that was waited for, and so many units were withheld before it.
    case queued(endsWait: UInt64?)
    /// It depends on units that the decoder did not get; `asks` where a wait begins, so that a sync unit is needed.
    case withheld(asks: Bool)
    /// The queue ran over, and something was dropped.
    case ranOver(Drop)
  }

  /// What was dropped so that the decoder can go on.
  package struct Drop: Hashable, Sendable {
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

  private var entries: [Entry] = []
  private var gate = LossGate()

  package init() {}

  package var count: Int { entries.count }

  package mutating func offer(_ unit: ReceivedUnit, isDiscontinuity: Bool) -> Offered {
    let wasWaiting = gate.isWaiting
    let verdict = gate.admit(
      sequence: unit.sequence, flags: unit.unit.flags, lostBefore: isDiscontinuity ? 1 : 0)
    switch verdict {
    case .withhold(let asks):
      return .withheld(asks: asks)
    case .deliver(let isMarked):
      entries.append(Entry(unit: unit, isDiscontinuity: isMarked))
    }
    if let oldest = entries.first, isOver(from: oldest.unit.arrived, to: unit.arrived) {
      return .ranOver(dropToSync(from: 1))
    }
    return .queued(endsWait: wasWaiting ? gate.withheldInWait : nil)
  }

  package mutating func next() -> Entry? { entries.isEmpty ? nil : entries.removeFirst() }

  /// The decoder refused the unit that it took last: what depends on it is of no use.
  package mutating func decoderFailed() -> Drop { dropToSync(from: 0) }

  private func isOver(from oldest: Instant, to newest: Instant) -> Bool {
    entries.count > Self.countLimit || newest - oldest > Self.ageLimit
  }

  /// Drops all before the newest sync unit that is not among the first `kept` units; all if there is none.
  private mutating func dropToSync(from kept: Int) -> Drop {
    if let sync = entries.lastIndex(where: { $0.unit.unit.flags.contains(.sync) }), sync >= kept {
      entries.removeFirst(sync)
      entries[0].isDiscontinuity = true
      return Drop(units: sync, asks: false)
    }
    let count = entries.count
    entries.removeAll(keepingCapacity: true)
    return Drop(units: count, asks: gate.lose())
  }
}
