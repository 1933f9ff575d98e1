import Units

/// Follows what a link carries: what the sender knows goes in with the time, a bit rate to encode at comes out.
///
/// The signal is delay. A unit is delayed in the sender's own queue and on the way (`VideoFlow.delay`); when that delay
/// has not been short at any look of the window, or when the queue ran over, the link is overrun, and the estimate falls
/// to a part of what was delivered meanwhile. While the delay is short the estimate grows, carefully at first, the faster
/// the longer the calm lasts; and quickly back to what was carried before, since most narrow moments pass: for a while,
/// and later each time that this was too soon. A link that delivers nothing at all says nothing about its rate, and
/// changes nothing. With no delay the estimate stays at the ceiling.
///
/// Where all the time something waits, more and more, while far less leaves than was believed (`brokenSince`), the link is
/// another one, and need not be looked at for a whole window: the window begins anew at the break, what left since is the
/// rate, and the encoder stays far below it until what waits has left.
///
/// Sound has a sign of its own that shows sooner (`isOverrunByAudio`): before anything is known of a link, the pictures'
/// queue would have to run over first, and then wait for the sound that has gathered.
///
/// A delay that decreases don't shorten, with nothing waiting in the queue, is the way's own (a longer route): it is
/// taken as the new normal, else the estimate would fall for ever.
///
/// Refused: loss as a signal. The transports are byte streams, which lose nothing when they are overrun; what is lost
/// is lost by a fault, and a lower rate would not bring it back. Refused too: bounding growth by what the encoder really
/// spends. A still scene would then hold the estimate at its low rate; what an estimate that was never tried costs is
/// one overflow.
///
/// Sound leaves before pictures, so they get what it leaves of the link. What is estimated is therefore the link for both:
/// when sound begins, ends or changes its codec, pictures give way or get more at once, instead of after an overrun.
///
/// A value: constant memory, no clock. `look` at any rate; it does nothing before a look is due.
package struct RateControl: Sendable {
  /// What the link is believed to carry, sound and pictures together.
  package private(set) var carried: Bitrate
  /// What sound takes of it.
  private var audio = Bitrate.bitsPerSecond(0)
  /// Most that is aimed at: what the pictures can use.
  package private(set) var ceiling: Bitrate
  /// The part of the estimate that is encoded at: less than all of it while the queue drains.
  private var share = 1.0
  /// What waits is of before the link broke.
  private var isBroken = false

  /// Oldest first.
  private var window: [VideoFlow] = []
  private var overflows: UInt64 = 0
  private var lastDecrease: Instant?
  /// Since when there was neither a decrease nor a delay.
  private var calmSince: Instant?
  /// What was believed before the last decrease that followed a calm, and since when it isn't any more.
  private var known: (rate: Bitrate, until: Instant)?
  /// Decreases since then that came before the link carried nearly as much again.
  private var failedReturns = 0
  /// The way's own share in the delay.
  private var ownDelay: Duration = .zero
  /// Decreases one after the other, and the delay at the first of them.
  private var decreases = 0
  private var delayAtFirst: Duration = .zero

  package init(start: Bitrate, ceiling: Bitrate) {
    carried = min(start, ceiling)
    self.ceiling = ceiling
  }

  /// What the link is believed to carry of pictures.
  package var estimate: Bitrate { min(ceiling, max(carried - audio, min(RateRules.floor, ceiling))) }

  /// What the link is known to carry, sound and pictures together; nil while nothing limits what is sent.
  package var limit: Bitrate? { carried < ceiling + audio ? carried : nil }

  /// What to encode at.
  package var target: Bitrate {
    share < 1 ? max(estimate.scaled(by: share), min(estimate, RateRules.floor)) : estimate
  }

  package mutating func setCeiling(_ new: Bitrate) {
    ceiling = new
    carried = min(carried, ceiling + audio)
  }

  private mutating func setAudio(_ new: Bitrate) {
    let isFree = limit == nil
    audio = new
    carried = isFree ? ceiling + audio : min(carried, ceiling + audio)
  }

  /// What a look found.
  package enum Finding: Hashable, Sendable {
    /// No look was due.
    case early
    case looked
    /// The sender's queue has run over since the last look.
    case overflow
  }

  package mutating func look(_ flow: VideoFlow) -> Finding {
    let overflowed = flow.overflows > overflows
    if let last = window.last {
      guard overflowed || flow.time - last.time >= RateRules.lookInterval else { return .early }
      if flow.time - last.time > RateRules.staleAfter { window.removeAll(keepingCapacity: true) }
    }
    overflows = flow.overflows
    setAudio(flow.audioRate)
    let elapsed = window.last.map { flow.time - $0.time } ?? .zero
    remember(flow)
    ownDelay = min(ownDelay, flow.travelDelay)
    let delay = flow.delay - ownDelay
    let breaks = forgetWhatWasBeforeABreak()
    isBroken = breaks || isBroken && delay >= RateRules.calmDelay
    share = isBroken ? RateRules.brokenShare : delay > RateRules.drainDelay ? RateRules.drainShare : 1
    if breaks {
      decrease(.broken, at: flow.time)
    } else if overflowed || standingDelay > RateRules.standingDelay {
      decrease(overflowed ? .overflow : .delay, at: flow.time)
    } else if delay < RateRules.calmDelay {
      grow(for: elapsed, at: flow.time)
    }
    return overflowed ? .overflow : .looked
  }

  private mutating func remember(_ flow: VideoFlow) {
    while window.count >= RateRules.looksInWindow
      || (window.count >= 2 && window.first.map { flow.time - $0.time > RateRules.window } == true)
    {
      window.removeFirst()
    }
    window.append(flow)
  }

  /// Where the link began to carry far less, the window begins there.
  private mutating func forgetWhatWasBeforeABreak() -> Bool {
    guard let first = window.brokenSince(carried) ?? (window.isOverrunByAudio ? window.waitingSince : nil) else {
      return false
    }
    window.removeFirst(min(first, window.count - 1))
    return true
  }

  /// The delay that nothing in the window was below.
  private var standingDelay: Duration {
    guard window.count >= 3 || window.span >= RateRules.window else { return .zero }
    return (window.lazy.map(\.delay).min() ?? .zero) - ownDelay
  }

  /// What shows that the link is overrun.
  private enum Overrun {
    case delay, overflow, broken
  }

  private mutating func decrease(_ overrun: Overrun, at now: Instant) {
    defer { calmSince = nil }
    guard overrun == .overflow || now - (lastDecrease ?? .distantPast) >= RateRules.decreaseInterval else { return }
    let isQueued = overrun != .delay || window.allSatisfy { $0.waitingAge >= RateRules.calmDelay }
    // What was acknowledged in a part of the window may be of before it.
    guard let delivered = overrun == .broken ? window.sent : window.delivered(isQueued: isQueued) else { return }
    guard overrun != .delay || !isFruitless() else {
      ownDelay += standingDelay
      decreases = 0
      // They were for nothing.
      if let known { carried = min(known.rate, ceiling + audio) }
      return
    }
    if calmSince != nil, returns(at: now) {
      failedReturns += 1
    } else if calmSince != nil || known == nil {
      known = (carried, now)
      failedReturns = 0
    }
    lastDecrease = now
    carried = min(carried, max(delivered.scaled(by: RateRules.decreaseShare), RateRules.floor))
  }

  /// True when several decreases one after the other have not moved the delay, and none of it is in the queue.
  private mutating func isFruitless() -> Bool {
    let delay = standingDelay
    let isSteady = delay >= delayAtFirst * 0.9 && delay <= delayAtFirst * 1.1
    let isQueued = window.contains { $0.waitingAge >= RateRules.calmDelay }
    if calmSince != nil || decreases == 0 || !isSteady || isQueued {
      decreases = 0
      delayAtFirst = delay
    }
    decreases += 1
    return decreases > RateRules.fruitlessDecreases
  }

  /// The link carried far more not long ago.
  private func returns(at now: Instant) -> Bool {
    guard let known, now - known.until < RateRules.recoveryMemory else { return false }
    return carried < known.rate.scaled(by: RateRules.recoveryShare)
  }

  private mutating func grow(for elapsed: Duration, at now: Instant) {
    guard let since = calmSince else {
      calmSince = now
      return
    }
    decreases = 0
    let calm = now - since
    let growth: Double
    if returns(at: now), calm >= min(RateRules.recoveryAfter * (1 + failedReturns), RateRules.latestRecovery) {
      growth = RateRules.largestGrowth
    } else {
      growth = RateRules.probe(after: calm)
    }
    carried = min(carried.scaled(by: 1 + growth * elapsed.seconds), ceiling + audio)
  }
}

extension RateRules {
  /// Growth a second after so much calm.
  fileprivate static func probe(after calm: Duration) -> Double {
    var growth = probeGrowth
    var left = calm.seconds
    while left >= probeDoubling, growth < largestGrowth {
      growth *= 2
      left -= probeDoubling
    }
    return min(growth, largestGrowth)
  }
}

extension Bitrate {
  /// Nil for nothing, or in no time.
  init?(bytes: UInt64, in time: Duration) {
    guard bytes > 0, time > .zero else { return nil }
    self.init(bitsPerSecond: Int64(saturating: Double(bytes) * 8 / time.seconds))
  }

  static func + (a: Bitrate, b: Bitrate) -> Bitrate {
    Bitrate(bitsPerSecond: a.bitsPerSecond.addingSaturating(b.bitsPerSecond))
  }

  static func - (a: Bitrate, b: Bitrate) -> Bitrate {
    Bitrate(bitsPerSecond: a.bitsPerSecond.subtractingSaturating(b.bitsPerSecond))
  }

  func scaled(by factor: Double) -> Bitrate {
    Bitrate(bitsPerSecond: Int64(saturating: Double(bitsPerSecond) * factor))
  }
}
