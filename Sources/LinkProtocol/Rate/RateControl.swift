import Units

/// Follows what a link carries: what the sender knows goes in with the time, a bit rate to encode at comes out.
///
/// The signal is delay. A unit is delayed in the sender's own queue and on the way (`VideoFlow.delay`); when that delay
/// has not been short at any look of the window, or when the queue ran over, the link is overrun, and the estimate falls
/// to a part of what was delivered meanwhile. While the delay is short the estimate grows, carefully at first, the faster
/// the longer the calm lasts; and quickly back to what was carried before, once, since most narrow moments pass. A link
/// that delivers nothing at all says nothing about its rate, and changes nothing. With no delay the estimate stays at the
/// ceiling.
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
  /// The queue drains: the encoder stays below the estimate.
  private var isDraining = false

  /// Oldest first.
  private var window: [VideoFlow] = []
  private var overflows: UInt64 = 0
  private var lastDecrease: Instant?
  /// Since when there was neither a decrease nor a delay.
  private var calmSince: Instant?
  /// What was believed before the last decrease that followed a calm.
  private var known: Bitrate?
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
    isDraining ? max(estimate.scaled(by: RateRules.drainShare), min(estimate, RateRules.floor)) : estimate
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
    isDraining = delay > RateRules.drainDelay
    if window.isOverrunByAudio {
      decrease(.byAudio, at: flow.time)
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

  /// The delay that nothing in the window was below.
  private var standingDelay: Duration {
    guard window.count >= 3 || window.span >= RateRules.window else { return .zero }
    return (window.lazy.map(\.delay).min() ?? .zero) - ownDelay
  }

  /// What shows that the link is overrun.
  private enum Overrun {
    case delay, overflow, byAudio
  }

  private mutating func decrease(_ overrun: Overrun, at now: Instant) {
    defer { calmSince = nil }
    guard overrun == .overflow || now - (lastDecrease ?? .distantPast) >= RateRules.decreaseInterval else { return }
    let isQueued = overrun != .delay || window.allSatisfy { $0.waitingAge >= RateRules.calmDelay }
    guard let delivered = window.delivered(isQueued: isQueued) else { return }
    guard overrun != .delay || !isFruitless() else {
      ownDelay += standingDelay
      decreases = 0
      // They were for nothing.
      if let known { carried = min(known, ceiling + audio) }
      return
    }
    if calmSince != nil || known == nil { known = carried }
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

  private mutating func grow(for elapsed: Duration, at now: Instant) {
    guard let since = calmSince else {
      calmSince = now
      return
    }
    decreases = 0
    let calm = now - since
    let recovers = known.map { carried < $0.scaled(by: RateRules.recoveryShare) } ?? false
    let growth: Double
    if recovers, calm >= RateRules.recoveryAfter {
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

extension [VideoFlow] {
  fileprivate var span: Duration {
    guard let first, let last else { return .zero }
    return last.time - first.time
  }

  /// Sound alone is more than the link carries.
  fileprivate var isOverrunByAudio: Bool {
    guard let last, last.audioWaitingAge >= RateRules.audioDelay else { return false }
    var steps = 0
    for (before, after) in zip(self, dropFirst()).reversed() {
      guard before.audioWaitingAge < after.audioWaitingAge, before.leftBytes < after.leftBytes else { return false }
      steps += 1
      if steps >= RateRules.audioSteps || last.time - before.time >= RateRules.audioSpan { return true }
    }
    return false
  }

  /// What went through over the window, sound and pictures; nil when that can't be told: nothing left, or something in one of its steps
  /// alone, which is how a link that stood still begins to move again.
  ///
  /// What left is counted by chunks and what was acknowledged by whole units, so both err, downwards when a span begins
  /// idle. Where the sender's own queue waits, the transport takes no more than goes through, and the greater is nearer;
  /// where it does not, the transport may swallow more, and only the lesser is sure.
  fileprivate func delivered(isQueued: Bool) -> Bitrate? {
    guard let first, let last else { return nil }
    let moves = zip(self, dropFirst()).count { $0.leftBytes < $1.leftBytes }
    guard moves >= Swift.min(2, count - 1) else { return nil }
    let left = last.leftBytes.subtractingSaturating(first.leftBytes)
    guard let sent = Bitrate(bytes: left, in: last.time - first.time) else { return nil }
    // These figures are the peer's: they may say anything.
    let acknowledged = last.acknowledgedBytes.subtractingSaturating(first.acknowledgedBytes)
    guard let begin = first.acknowledged, let end = last.acknowledged, end - begin <= RateRules.longestSpan,
      let pictures = Bitrate(bytes: acknowledged, in: end - begin)
    else { return sent }
    let arrived = pictures + (sound ?? .bitsPerSecond(0))
    return isQueued ? Swift.max(sent, arrived) : Swift.min(sent, arrived)
  }
}

extension [VideoFlow] {
  /// What arrived of the audio channel over the window.
  fileprivate var sound: Bitrate? {
    guard let first, let last, let begin = first.audioAcknowledged, let end = last.audioAcknowledged,
      end - begin <= RateRules.longestSpan
    else { return nil }
    let bytes = last.audioAcknowledgedBytes.subtractingSaturating(first.audioAcknowledgedBytes)
    return Bitrate(bytes: bytes, in: end - begin)
  }
}

extension VideoFlow {
  /// Pictures and sound.
  fileprivate var leftBytes: UInt64 { sentBytes.addingSaturating(audioSentBytes) }
}

extension Bitrate {
  /// Nil for nothing, or in no time.
  fileprivate init?(bytes: UInt64, in time: Duration) {
    guard bytes > 0, time > .zero else { return nil }
    self.init(bitsPerSecond: Int64(saturating: Double(bytes) * 8 / time.seconds))
  }

  fileprivate static func + (a: Bitrate, b: Bitrate) -> Bitrate {
    Bitrate(bitsPerSecond: a.bitsPerSecond.addingSaturating(b.bitsPerSecond))
  }

  fileprivate static func - (a: Bitrate, b: Bitrate) -> Bitrate {
    Bitrate(bitsPerSecond: a.bitsPerSecond.subtractingSaturating(b.bitsPerSecond))
  }

  func scaled(by factor: Double) -> Bitrate {
    Bitrate(bitsPerSecond: Int64(saturating: Double(bitsPerSecond) * factor))
  }
}
