import LinkProtocol
import Synchronization
import Units

/// The units that passed since the last sync unit, with it: what somebody needs who comes between two of them, when the
/// glasses don't make one on request.
///
/// Refused: to let them wait for the next sync unit. Glasses that ignore requests decide how far away that is, and a
/// listener that hears nothing, or a stream that stalls because its decoder has nothing to begin with, is the silence
/// that this package is against.
///
/// Bound: `byteLimit` and `countLimit`; over either of them all go, and nothing is kept until the next sync unit. The
/// bytes are those that arrived: keeping copies nothing.
///
/// Any thread.
package final class RecentUnits: Sendable {
  /// Half a minute at 2 Mbit/s.
  package static let byteLimit = 8 << 20
  /// Half a minute at 30 a second.
  package static let countLimit = 900

  private struct State {
    var units: [ReceivedUnit] = []
    var bytes = 0

    /// Keeps the room, which the next group takes.
    mutating func forget() {
      units.removeAll(keepingCapacity: true)
      bytes = 0
    }
  }

  private let state = Mutex(State())

  package init() {}

  /// A unit has passed the loss gate: it depends on the ones before at most, back to the last sync unit.
  package func passed(_ received: ReceivedUnit) {
    state.withLock { state in
      if received.unit.flags.contains(.sync) {
        state.forget()
      } else if state.units.isEmpty {
        return
      }
      state.units.append(received)
      state.bytes = state.bytes.addingSaturating(received.unit.payload.count)
      if state.bytes > Self.byteLimit || state.units.count > Self.countLimit { state.forget() }
    }
  }

  /// What comes next does not go on from here.
  package func forget() { state.withLock { $0.forget() } }

  /// From the sync unit on up to a picture of the same group, without it; empty when it can't be decoded that way.
  package func units(before presentation: Instant) -> [ReceivedUnit] {
    let units = state.withLock { $0.units }
    return Array(units.prefix { $0.presentation < presentation })
  }
}
