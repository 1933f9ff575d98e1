import Units

/// Chooses the size and frame rate whose pictures a link can carry: the link's estimated rate goes in with the time,
/// steps come out.
///
/// The rungs go from what was asked for down: smaller sizes first, since half the pixels are hardly missed on a glance,
/// then fewer pictures of the smallest size. A rung needs half of its bit rate, or what it says by itself. When the estimate has been below that
/// for a while, a longer one if it is near, or the queue runs over with it, the ladder steps down to the first rung that the estimate carries, over
/// several if need be. One rung at a time it goes up again, when the estimate has been enough for the upper one with
/// something to spare for a calm time; a step up that fails makes the next calm time longer. Never above what was asked.
///
/// Refused: a step at each change of the estimate (a step costs a sync unit and is seen), and frame rate before size (a
/// halved rate is seen at once, and saves only a third of the bits).
///
/// A value without a clock; times never step back.
package struct Ladder: Sendable {
  package struct Rung: Hashable, Sendable {
    package var video: VideoParameters
    /// What its pictures are made for.
    package var bitrate: Bitrate
    /// Below this estimate the next rung shows more.
    package var least: Bitrate

    /// - Parameter least: where it is less than half of the bit rate.
    package init(video: VideoParameters, bitrate: Bitrate, least: Bitrate? = nil) {
      self.video = video
      self.bitrate = bitrate
      let half = bitrate.scaled(by: RateRules.leastShare)
      self.least = least.map { min($0, half) } ?? half
    }

    /// From this estimate on it is tried again.
    var enough: Bitrate { least.scaled(by: RateRules.enoughShare / RateRules.leastShare) }
  }

  package struct Step: Hashable, Sendable {
    package var from: Rung
    package var to: Rung
    package var reason: StreamChanged.Reason
  }

  /// The highest first.
  private let rungs: [Rung]
  private var index = 0
  private var tooLowSince: Instant?
  private var enoughSince: Instant?
  /// How long the estimate must be enough before the next step up.
  private var calm = RateRules.firstCalm
  private var steppedUp: Instant?

  /// - Parameters:
  ///   - top: what was asked for.
  ///   - lower: what may be sent in its place, from better to worse.
  package init(top: Rung, lower: [Rung]) { rungs = [top] + lower }

  package var rung: Rung { rungs[index] }
  /// Pictures are as they were asked for.
  package var isAtTop: Bool { index == 0 }

  /// Most that the encoder should be given. At the top the rung's own bit rate; below it also what shows that the next
  /// rung can be carried, so that a step up is tried on evidence.
  package var ceiling: Bitrate {
    index == 0 ? rung.bitrate : max(rung.bitrate, rungs[index - 1].enough.scaled(by: 1.1))
  }

  /// - Parameter overflowed: the sender's queue has just run over, so a sync unit is due anyway.
  package mutating func look(_ estimate: Bitrate, overflowed: Bool, at now: Instant) -> Step? {
    if estimate < rung.least, index + 1 < rungs.count {
      enoughSince = nil
      let since = tooLowSince ?? now
      tooLowSince = since
      // What a decrease takes off the estimate for a while is not missing for good.
      let isFarTooLow = estimate < rung.least.scaled(by: RateRules.decreaseShare)
      guard overflowed || now - since >= (isFarTooLow ? RateRules.patience : RateRules.longPatience) else { return nil }
      return step(to: rungs.indices.first { $0 > index && rungs[$0].least <= estimate } ?? rungs.count - 1, at: now)
    }
    tooLowSince = nil
    guard index > 0, estimate >= rungs[index - 1].enough else {
      enoughSince = nil
      return nil
    }
    let since = enoughSince ?? now
    enoughSince = since
    guard now - since >= calm else { return nil }
    return step(to: index - 1, at: now)
  }

  private mutating func step(to next: Int, at now: Instant) -> Step {
    let isUp = next < index
    if isUp {
      steppedUp = now
    } else {
      let failed = steppedUp.map { now - $0 < RateRules.trial } ?? false
      calm = failed ? min(calm * RateRules.calmGrowth, RateRules.longestCalm) : RateRules.firstCalm
      steppedUp = nil
    }
    tooLowSince = nil
    enoughSince = nil
    let from = rung
    index = next
    return Step(from: from, to: rung, reason: isUp ? .linkWidened : .linkNarrowed)
  }
}
