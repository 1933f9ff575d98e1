/// By how much sound is stretched so that it stays where its stamps say: smooth, bounded, and exactly nothing while
/// there is nothing to correct, so that samples stay as they are.
///
/// It begins where the drift is 20 ppm or more beyond doubt, or the offset 5.5 ms or more, and ends well below both, so
/// that figures near a bound don't switch it to and fro.
struct RateCorrection: Hashable, Sendable {
  private enum State: Hashable, Sendable {
    case off
    /// Works an offset off; then there is nothing more to do.
    case offset
    /// Follows a drift.
    case drift
  }

  /// Bound of the correction in parts per million: 1.7 cents of pitch, a third of what ears tell apart.
  private static let largest = 1000.0
  /// How fast it may change, in ppm a second.
  private static let slew = 200.0
  /// Time in which an offset shrinks to a third, in seconds.
  private static let settling = 15.0
  private static let drift = (begin: 20.0, end: 15.0)
  /// Standard errors that a drift must be beyond its bound.
  private static let certainty = 3.0
  /// In seconds. The first one leaves room for the noise of an offset of 5 ms.
  private static let offset = (begin: 5.5e-3, endWithDrift: 1e-3, end: 0.5e-3)
  /// Points that an offset must be read from: half a second of units.
  private static let leastPoints = 20.0

  private var state = State.off
  /// Parts per million: how many more frames are to be made than came.
  private(set) var value = 0.0

  /// - Parameters:
  ///   - line: the stamps against the count of samples.
  ///   - offset: how far stamps are ahead of what was delivered, in seconds.
  ///   - elapsed: seconds since the last look.
  mutating func look(_ line: DriftLine, offset: Double, elapsed: Double) {
    let slope = line.slope * 1e6
    let drifts =
      line.isMeasured && abs(slope) >= Self.drift.begin + Self.certainty * line.slopeError * 1e6
    switch state {
    case .off:
      if drifts {
        state = .drift
      } else if line.points >= Self.leastPoints, abs(offset) >= Self.offset.begin {
        state = .offset
      }
    case .offset:
      if drifts {
        state = .drift
      } else if abs(offset) < Self.offset.end, abs(slope) < Self.drift.begin {
        state = .off
      }
    case .drift:
      if abs(slope) < Self.drift.end, abs(offset) < Self.offset.endWithDrift { state = .off }
    }
    let wanted: Double
    switch state {
    case .off: wanted = 0
    case .offset, .drift: wanted = max(-Self.largest, min(Self.largest, slope + offset / Self.settling * 1e6))
    }
    let step = Self.slew * min(max(0, elapsed), 1)
    value += max(-step, min(step, wanted - value))
  }
}
