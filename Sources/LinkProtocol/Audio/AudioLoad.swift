import Units

/// What the sound that is queued takes of the link, headers included. By what units say of themselves, so that it is right
/// also while nothing leaves.
struct AudioLoad: Sendable {
  /// Without a unit for so long there is no sound.
  private static let silence: Duration = .milliseconds(500)
  /// Share of a new unit in the mean, over about ten of them: Opus packets vary.
  private static let share = 0.1
  /// Beyond this a unit is another codec's, and begins a new mean.
  private static let step = 2.0

  private var mean = 0.0
  private var last = Instant.distantPast

  mutating func add(_ unit: AudioUnit, chunk: Int, at now: Instant) {
    let length = UnitHead.audioLength + unit.payload.count
    let chunks = length / max(1, chunk) + 1
    let bits = Double(length.addingSaturating(chunks.multipliedSaturating(by: ChunkHeader.length))) * 8
    let rate = bits * Double(unit.sampleRate) / Double(max(1, unit.frames))
    let isNew = now - last > Self.silence || rate > mean * Self.step || rate * Self.step < mean
    mean = isNew ? rate : mean + (rate - mean) * Self.share
    last = now
  }

  func rate(at now: Instant) -> Bitrate {
    .bitsPerSecond(now - last > Self.silence ? 0 : Int64(saturating: mean))
  }
}
