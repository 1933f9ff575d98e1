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
    case queued
    /// It depends on units that the decoder did not get; `asksForKeyframe` when it is time to ask for a sync unit.
    case withheld(asksForKeyframe: Bool)
    /// So many units were dropped; some may wait still, and `asksForKeyframe` says that none does.
    case dropped(Int, asksForKeyframe: Bool)
  }

  package static let ageLimit: Duration = .milliseconds(500)
  /// The fastest stream fills half of it in `ageLimit`.
  package static let countLimit = 32

  private var entries: [Entry] = []
  private var gate = LossGate()
  /// Dropped units that the gate has not heard of yet.
  private var unreported = 0

  package init() {}

  package var count: Int { entries.count }

  package mutating func offer(_ unit: ReceivedUnit, isDiscontinuity: Bool, at now: Instant) -> Offered {
    let verdict = gate.admit(
      sequence: unit.sequence, flags: unit.unit.flags, lostBefore: unreported + (isDiscontinuity ? 1 : 0), at: now)
    unreported = 0
    guard case .deliver(let discontinuity) = verdict else {
      return .withheld(asksForKeyframe: gate.timeout(at: now))
    }
    entries.append(Entry(unit: unit, isDiscontinuity: discontinuity))
    guard let oldest = entries.first, isOver(from: oldest.unit.arrived, to: unit.arrived) else { return .queued }
    return makeRoom()
  }

  package mutating func next() -> Entry? { entries.isEmpty ? nil : entries.removeFirst() }

  /// The decoder refused a unit: what follows is of no use before the next sync unit. Returns how many were dropped.
  package mutating func decoderFailed() -> Int {
    guard case .dropped(let count, _) = makeRoom() else { return 0 }
    return count
  }

  private func isOver(from oldest: Instant, to newest: Instant) -> Bool {
    entries.count > Self.countLimit || newest - oldest > Self.ageLimit
  }

  private mutating func makeRoom() -> Offered {
    if let sync = entries.lastIndex(where: { $0.unit.unit.flags.contains(.sync) }), sync > 0 {
      entries.removeFirst(sync)
      entries[0].isDiscontinuity = true
      return .dropped(sync, asksForKeyframe: false)
    }
    let count = entries.count
    entries.removeAll(keepingCapacity: true)
    unreported = max(1, count)
    return .dropped(count, asksForKeyframe: true)
  }
}
