import Units

/// Turns presentation times into a track's ticks that begin at 0 and rise strictly.
///
/// A stamp that is equal to the one before, a little before it, or missing, moves by at most a frame: half a frame behind
/// the last, so that both pictures are seen, or less where that would move it further. A jump back by more, or an impossible
/// one ahead, is the mark of a clock that started anew: the stamps go on one frame after the last, and later ones keep
/// their distances; unless the next stamp shows that the one was wrong and the clock goes on as before. Each repair is
/// counted.
struct StampSequence {
  /// Ticks of one second.
  let timescale: Int64
  /// Ticks of one frame at the nominal rate, at least 1.
  let frame: Int64

  /// Stamps that were moved.
  private(set) var repairs = 0
  /// The first tick given out; 0 unless the sequence goes on from another.
  private(set) var first: Int64 = 0
  /// The last tick given out.
  private(set) var last: Int64?

  /// What tick 0 is in the caller's time; moves when the caller's clock starts anew.
  private var origin: Instant?
  /// The origin before the clock seemed to start anew with the last stamp.
  private var formerOrigin: Instant?

  /// A longer gap between two pictures is not believed: sample durations have 32 bits, and nobody pauses a recording
  /// for so long without ending it.
  static let longestGap: Duration = .seconds(3600)

  /// - Parameter origin: what tick 0 is, for stamps that go on from those of another file; nil for the first stamp.
  init(timescale: Int64, frameInterval: Duration, origin: Instant? = nil) {
    self.timescale = timescale
    frame = max(1, Self.ticks(frameInterval, timescale))
    self.origin = origin
  }

  /// The tick of the next picture in decoding order.
  mutating func next(_ stamp: Instant?) -> Int64 {
    let tick: Int64
    if let last, let origin {
      tick = self.tick(of: stamp, after: last, origin: origin)
    } else if let origin, let stamp, stamp >= origin, stamp - origin < Self.longestGap {
      tick = Self.ticks(stamp - origin, timescale)
      first = tick
    } else {
      tick = last.map { $0 + frame } ?? 0
      // The first stamp that is known settles what the ticks before it stood for.
      origin = stamp.map { $0 - Self.duration(tick, timescale) }
      if stamp == nil { repairs += 1 }
    }
    last = tick
    return tick
  }

  /// The tick of a time on the same axis, without effect on the sequence. May lie before 0.
  func tick(of stamp: Instant) -> Int64 {
    guard let origin else { return 0 }
    return Self.ticks(stamp - origin, timescale)
  }

  /// A time on the same axis, from tick 0 on; nil before the first stamp that is known.
  func time(of stamp: Instant) -> Duration? { origin.map { stamp - $0 } }

  private mutating func tick(of stamp: Instant?, after last: Int64, origin: Instant) -> Int64 {
    guard let stamp else {
      repairs += 1
      return last + frame
    }
    var tick = Self.ticks(stamp - origin, timescale)
    var step = tick.subtractingSaturating(last)
    if let former = formerOrigin.take() {
      let tickBefore = Self.ticks(stamp - former, timescale)
      let stepBefore = tickBefore.subtractingSaturating(last)
      if stepBefore > 0, step <= 0 || stepBefore < step {
        self.origin = former
        (tick, step) = (tickBefore, stepBefore)
      }
    }
    if step > 0, step <= Self.ticks(Self.longestGap, timescale) { return tick }
    repairs += 1
    if step <= 0, step > -frame { return last + max(1, min(frame / 2, frame + step)) }
    let tickNow = last + frame
    formerOrigin = self.origin
    self.origin = stamp - Self.duration(tickNow, timescale)
    return tickNow
  }

  /// To the nearest tick; saturating.
  static func ticks(_ duration: Duration, _ timescale: Int64) -> Int64 {
    let (seconds, rest) = duration.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let fraction = rest.multipliedSaturating(by: timescale)
    let half: Int64 = fraction < 0 ? -500_000_000 : 500_000_000
    let rounded = fraction.addingSaturating(half) / 1_000_000_000
    return seconds.multipliedSaturating(by: timescale).addingSaturating(rounded)
  }

  static func duration(_ ticks: Int64, _ timescale: Int64) -> Duration {
    let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: max(1, timescale))
    let fraction = rest.multipliedSaturating(by: 1_000_000_000) / max(1, timescale)
    return .nanoseconds(seconds.multipliedSaturating(by: 1_000_000_000).addingSaturating(fraction))
  }
}
