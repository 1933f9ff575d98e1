import Units

/// The bounded queue between whoever delivers sound and the lane that writes it.
///
/// Bound: how long the oldest has waited, and bytes. Drop rule: a newcomer that doesn't fit is dropped; its time tells
/// that it is missing. Counter: `dropped`; what to tell of it: `offer`.
struct RecordingAudioQueue {
  private struct Entry {
    let sound: RecordingAudioBlock
    let arrived: Instant
  }

  private let limits: RecordingQueue<RecordingUnit>.Limits
  private var entries = FIFO<Entry>()
  private var bytes = 0
  private var loss = AudioLossWatch()

  init(limits: RecordingQueue<RecordingUnit>.Limits) { self.limits = limits }

  var first: RecordingAudioBlock? { entries.first?.sound }
  /// Sound that was offered and can't be taken out.
  var dropped: Duration { loss.total }

  /// - Returns: whether there was room, and the event to send.
  mutating func offer(_ sound: RecordingAudioBlock, at now: Instant) -> (isTaken: Bool, event: RecordingEvent?) {
    if let oldest = entries.first {
      let isFull = bytes.addingSaturating(sound.bytes) > limits.bytes.bytes || now - oldest.arrived > limits.span
      guard !isFull else { return (false, loss.lost(sound.duration, .queueFull)) }
    }
    entries.append(Entry(sound: sound, arrived: now))
    bytes = bytes.addingSaturating(sound.bytes)
    return (true, loss.took())
  }

  /// Sound came that can't be read.
  mutating func refuse(_ duration: Duration) -> RecordingEvent? { loss.lost(duration, .unsupportedForm) }

  mutating func take() -> RecordingAudioBlock? {
    guard let entry = entries.popFirst() else { return nil }
    bytes -= entry.sound.bytes
    return entry.sound
  }

  /// Drops what waits, for good.
  mutating func removeAll() {
    while let sound = take() { loss.lostWithAll(sound.duration) }
  }

  /// As if what waits had never been offered.
  mutating func forgetAll() {
    entries.removeAll()
    bytes = 0
  }
}
