import Units

/// What the sending side of a link knows about its video channel at one moment, and of the sound that leaves before it.
package struct VideoFlow: Hashable, Sendable {
  package var time: Instant
  /// Bytes that were handed to the transport since the link opened.
  package var sentBytes: UInt64 = 0
  /// Bytes of the units that arrived whole, by the last feedback, and when the last of them did on the receiver's clock.
  package var acknowledgedBytes: UInt64 = 0
  package var acknowledged: Instant?
  /// How much longer than the fastest of the last seconds the last acknowledged unit was under way.
  package var travelDelay: Duration = .zero
  /// How long the oldest unit of the sender's queue has waited.
  package var waitingAge: Duration = .zero
  /// How often the queue ran over since the link opened.
  package var overflows: UInt64 = 0
  /// What the sound that is queued takes of the link, headers included, whether the link carries it or not.
  package var audioRate: Bitrate = .bitsPerSecond(0)
  /// How long the oldest unit of sound in the sender's queue has waited.
  package var audioWaitingAge: Duration = .zero
  /// As `sentBytes`, `acknowledgedBytes` and `acknowledged`, of the audio channel.
  package var audioSentBytes: UInt64 = 0
  package var audioAcknowledgedBytes: UInt64 = 0
  package var audioAcknowledged: Instant?

  package init(time: Instant) { self.time = time }

  /// What a unit queued some time ago was delayed by: in the queue, and on the way beyond the way's own time.
  var delay: Duration { waitingAge + travelDelay }
}

/// When video units left, and what the receiver's feedback says of them.
///
/// The clocks of the two sides differ by a constant and by their drift, so a unit's time on the way is measured against
/// the least of the last 10 to 20 s: at 300 ppm the clocks part by 6 ms in it.
struct DepartureLog: Sendable {
  /// Units under way that are remembered: 4 s at 30 a second; a power of two, so that numbers may wrap around.
  private static let capacity = 128
  private static let baseSpan: Duration = .seconds(10)

  private var departures: [(sequence: UInt32, left: Instant)?] = Array(repeating: nil, count: Self.capacity)
  /// Least time on the way, in nanoseconds of two clocks, of the present span and of the one before.
  private var least: (present: Int64, before: Int64) = (.max, .max)
  private var spanBegan: Instant?

  private(set) var acknowledgedBytes: UInt64 = 0
  private(set) var acknowledged: Instant?
  private(set) var travelDelay: Duration = .zero

  /// The last chunk of a unit was handed to the transport.
  mutating func left(_ sequence: UInt32, at now: Instant) {
    departures[Int(sequence) % Self.capacity] = (sequence, now)
  }

  mutating func take(_ feedback: Feedback, at now: Instant) {
    acknowledgedBytes = feedback.bytesReceived
    acknowledged = feedback.arrived
    guard let departure = departures[Int(feedback.highestSequence) % Self.capacity],
      departure.sequence == feedback.highestSequence
    else { return }
    let onTheWay = feedback.arrived.nanoseconds.subtractingSaturating(departure.left.nanoseconds)
    if now - (spanBegan ?? now) >= Self.baseSpan {
      least = (.max, least.present)
      spanBegan = nil
    }
    spanBegan = spanBegan ?? now
    least.present = min(least.present, onTheWay)
    let delay = onTheWay.subtractingSaturating(min(least.present, least.before))
    // It can't have been under way for longer than it takes to hear of it, whatever the receiver's clock says.
    travelDelay = min(.nanoseconds(delay), max(now - departure.left, .zero))
  }
}
