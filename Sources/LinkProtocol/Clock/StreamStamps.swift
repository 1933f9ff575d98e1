import Units

/// Gives each unit of one channel its presentation time: the capture time through the alignment, later than the one's
/// before it in its stream and not after its arrival.
struct StreamStamps: Sendable {
  private struct State: Sendable {
    var stream: StreamID
    var lastPresentation: Instant
    /// Lost units of the channel that the stream was told of.
    var lostSeen: UInt64
  }

  /// Streams that are remembered; the one that was quiet longest makes room.
  private static let streamLimit = 16
  /// A stamp older than this is not believed: no queue holds media that long.
  private static let oldest: Duration = .seconds(60)

  /// Moves up to this are no repair: half a round trip of doubt lies in every stamp.
  private static let repair: Duration = .milliseconds(1)

  private var streams: [State] = []
  private var stopped: [StreamID] = []
  /// Lost units of the channel when the last unit of any stream came.
  private var lostAtLast: UInt64 = 0
  private(set) var repaired: UInt64 = 0

  struct Stamp: Hashable, Sendable {
    var presentation: Instant
    var arrived: Instant
    var lostBefore: Int
  }

  /// Nil for a unit of a stream that was already said to be over.
  mutating func receive(
    _ stream: StreamID, captured: DeviceTime, lostSoFar: UInt64, at now: Instant, alignment: inout ClockAlignment
  ) -> Stamp? {
    guard !stopped.contains(stream) else { return nil }
    let known = streams.firstIndex { $0.stream == stream }
    var state =
      known.map { streams.remove(at: $0) }
      ?? State(stream: stream, lastPresentation: .distantPast, lostSeen: lostAtLast)

    let mapped = alignment.hostTime(of: captured, arrived: now)
    var presentation = Self.believable(mapped, at: now)
    presentation = max(presentation, state.lastPresentation + .nanoseconds(1))
    let moved = presentation - mapped
    if moved > Self.repair || moved < .zero - Self.repair { repaired += 1 }
    state.lastPresentation = presentation
    let lost = Int(clamping: lostSoFar - min(lostSoFar, state.lostSeen))
    state.lostSeen = lostSoFar
    lostAtLast = lostSoFar
    if streams.count >= Self.streamLimit { streams.removeFirst() }
    streams.append(state)
    // Units that share a moment of arrival: nanoseconds are lent so that each is after the one before.
    return Stamp(presentation: presentation, arrived: max(now, presentation), lostBefore: lost)
  }

  /// Nothing was captured after it came, nor longer ago than any queue holds media.
  static func believable(_ mapped: Instant, at now: Instant) -> Instant { max(min(mapped, now), now - oldest) }

  /// No unit of the stream is to follow.
  mutating func stop(_ stream: StreamID) {
    streams.removeAll { $0.stream == stream }
    if stopped.count >= Self.streamLimit { stopped.removeFirst() }
    stopped.append(stream)
  }
}
