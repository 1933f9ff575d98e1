import Units

/// What one direction of a link is like, as a value. Without any of it bytes pass at once.
package struct LinkCondition: Hashable, Sendable {
  /// Bursts of loss, as a stream of bytes shows them: nothing comes while what was lost is repeated, and then everything
  /// at once. That is how TCP hides loss; bytes never go missing.
  package struct Stalls: Hashable, Sendable {
    /// From one to the next on average; the seed decides, from nothing to twice of it.
    package var spacing: Duration
    /// How long one lasts; the seed decides.
    package var length: ClosedRange<Duration>

    package init(every spacing: Duration, lasting length: ClosedRange<Duration>) {
      self.spacing = spacing
      self.length = length
    }
  }

  /// nil for no cap. At 0 nothing gets through.
  package var rate: Bitrate?
  /// How much may wait for the wire under a cap, in time, until the writer has to: the buffer of the bottleneck. Two
  /// full chunks always may.
  package var queue: Duration
  package var latency: Duration
  /// Up to so much is added to the latency. Nothing overtakes, so a byte may take longer than both.
  package var jitter: Duration
  package var stalls: Stalls?

  package init(
    rate: Bitrate? = nil, queue: Duration = .milliseconds(50), latency: Duration = .zero, jitter: Duration = .zero,
    stalls: Stalls? = nil
  ) {
    self.rate = rate
    self.queue = queue
    self.latency = latency
    self.jitter = jitter
    self.stalls = stalls
  }
}

/// When a direction stalls; decided by a seed, and asked in the order of time.
struct StallSchedule: Sendable {
  let stalls: LinkCondition.Stalls
  private var generator: SeededGenerator
  private var begin = Instant.distantPast
  private var end = Instant.distantPast

  /// A pause longer than this is not gone through stall by stall.
  private static let patience: Duration = .seconds(60)
  /// Stalls that follow one another faster would never let go.
  private static let leastSpacing: Duration = .milliseconds(1)

  init(_ stalls: LinkCondition.Stalls, seed: UInt64) {
    self.stalls = stalls
    generator = SeededGenerator(seed: seed)
  }

  /// When what would arrive then does arrive.
  mutating func arrival(_ time: Instant) -> Instant {
    if end == .distantPast || time - end > Self.patience { next(after: time) }
    while end <= time, end < .distantFuture { next(after: end) }
    return begin <= time ? end : time
  }

  private mutating func next(after time: Instant) {
    let spacing = max(stalls.spacing, Self.leastSpacing).nanoseconds
    begin = time + .nanoseconds(Int64.random(in: 1...spacing.multipliedSaturating(by: 2), using: &generator))
    let shortest = max(0, stalls.length.lowerBound.nanoseconds)
    end =
      begin
      + .nanoseconds(
        Int64.random(in: shortest...max(shortest, stalls.length.upperBound.nanoseconds), using: &generator))
    // At the end of time there is nothing more to wait for.
    if end <= time { end = .distantFuture }
  }
}
