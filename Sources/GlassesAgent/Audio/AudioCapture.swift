import LinkProtocol
import MediaEngine
import Units

/// The capture of one run of sound: which samples come next, where from, and what units they become.
///
/// For one thread; no clock. The caller says what time it is, and opens what is missing.
struct AudioCapture {
  /// A source that the next block needs.
  enum Opening: Sendable {
    case microphone(MicrophoneSource, setting: Int)
    /// With all those that the block needs.
    case feed(FeedDescription, among: Set<FeedDescription>)

    /// Nil for a microphone that hears the feed. Blocks.
    func open(_ format: PCMFormat) throws(MediaError) -> (any AudioSource)? {
      switch self {
      case .microphone(let source, _): try source.open(format)
      case .feed(let feed, _): try feed.openAudio(format)
      }
    }
  }

  /// What became of a block.
  struct Block {
    var units: [CodedAudio]
    var clock: SampleClock
    var source: AudioSourceKind
    var isMuted: Bool
    /// Something before the first unit is missing.
    var isDiscontinuity: Bool
  }

  private struct Heard {
    var setting: Int
    var source: MicrophoneSource
    /// Nil for the feed's.
    var opened: (any AudioSource)?
    var since: Instant
  }

  private let format: PCMFormat
  private let blockLength: Int
  private let deviceDrift: Double
  private var clock: SampleClock
  private var coder: AudioCoder
  /// The frame that is captured next.
  private var next = 0
  private var heard: Heard?
  private var feeds: [FeedDescription: any AudioSource] = [:]
  private var injected: ConvertedInjections
  private var kind = AudioSourceKind.unknown
  private var isMuted = false
  private var marksNext: Bool

  /// - Parameters:
  ///   - deviceDrift: how much faster the glasses' clock runs than the host's, in millionths.
  ///   - marksFirst: whether something before the first block is missing.
  init(format: PCMFormat, start: Instant, deviceDrift: Double, marksFirst: Bool) {
    self.format = format
    self.deviceDrift = deviceDrift
    blockLength = max(1, format.frames(in: AudioPipeline.blockDuration))
    clock = SampleClock(rate: format.sampleRate, start: start)
    coder = AudioCoder(format: format)
    injected = ConvertedInjections(format: format)
    marksNext = marksFirst
  }

  /// When the next block begins and is over.
  var moment: Instant { clock.moment(of: next) }
  var due: Instant { clock.moment(of: next + blockLength) }

  // MARK: - Sources

  /// What must be opened before the next block can be read.
  func opening(_ conditions: GlassesMicrophone.Conditions, _ feedClock: FeedClock) -> Opening? {
    if heard?.setting != conditions.setting { return .microphone(conditions.source, setting: conditions.setting) }
    guard conditions.source == .feed else { return nil }
    let shown = feedClock.stretches(from: moment, to: due).lazy.compactMap(\.feed)
    guard let missing = shown.first(where: { feeds[$0] == nil }) else { return nil }
    return .feed(missing, among: Set(shown))
  }

  mutating func install(_ source: (any AudioSource)?, for opening: Opening) {
    switch opening {
    case .microphone(let described, let setting):
      heard = Heard(setting: setting, source: described, opened: source, since: moment)
    case .feed(let feed, let shown):
      feeds = feeds.filter { shown.contains($0.key) }
      feeds[feed] = source
    }
  }

  // MARK: - Blocks

  /// The next block. A source that has not been opened is silent.
  mutating func block(
    _ conditions: GlassesMicrophone.Conditions, _ feedClock: FeedClock, codec: AudioCodecID
  ) throws(MediaError) -> Block {
    let samples = try capture(blockLength, conditions, feedClock)
    defer { next += blockLength }
    return made(of: try coder.code(samples, at: next, as: codec))
  }

  /// What was captured before a moment less than a block away, and what was held back.
  mutating func last(
    _ conditions: GlassesMicrophone.Conditions, _ feedClock: FeedClock, until moment: Instant
  ) throws(MediaError) -> Block {
    let frames = min(max(clock.index(from: moment) - next, 0), blockLength)
    let samples = try capture(frames, conditions, feedClock)
    defer { next += frames }
    return made(of: try coder.finish(samples, at: next))
  }

  /// What was held back, before a gap.
  mutating func rest() throws(MediaError) -> Block { made(of: try coder.finish([], at: next)) }

  /// Leaves out the blocks that were over by then.
  mutating func skip(to now: Instant) {
    let blocks = max(0, clock.index(nearest: now) - next) / blockLength
    next += blocks * blockLength
    coder = AudioCoder(format: format)
    marksNext = true
  }

  private mutating func made(of units: [CodedAudio]) -> Block {
    defer { if !units.isEmpty { marksNext = false } }
    return Block(units: units, clock: clock, source: kind, isMuted: isMuted, isDiscontinuity: marksNext)
  }

  // MARK: - Samples

  private mutating func capture(
    _ frames: Int, _ conditions: GlassesMicrophone.Conditions, _ feedClock: FeedClock
  ) throws(MediaError) -> [Float] {
    let skew = (1 + conditions.clockSkew / 1e6) * (1 + deviceDrift / 1e6) - 1
    clock.change(partsPerMillion: conditions.clockSkew == 0 && deviceDrift == 0 ? 0 : skew * 1e6, from: next)
    var samples: [Float] = []
    samples.reserveCapacity(frames * format.channels)
    if let heard, heard.source != .feed {
      try read(heard.opened, at: clock.moment(of: next) - heard.since, frames, into: &samples)
      kind = heard.opened?.kind ?? heard.source.kind
    } else {
      try readFeed(frames, feedClock, into: &samples)
    }
    try overlay(conditions.injected, on: &samples)
    silence(conditions.muted, in: &samples)
    return samples
  }

  private mutating func readFeed(_ frames: Int, _ feedClock: FeedClock, into samples: inout [Float]) throws(MediaError)
  {
    let end = next + frames
    let stretches = feedClock.stretches(from: clock.moment(of: next), to: clock.moment(of: end))
    var index = next
    var heard: AudioSourceKind?
    for (number, stretch) in stretches.enumerated() {
      let after = stretches.indices.contains(number + 1) ? clock.index(from: stretches[number + 1].from) : end
      let length = min(after, end) - index
      guard length > 0 else { continue }
      let source = stretch.feed.flatMap { feeds[$0] }
      try read(source, at: stretch.time + (clock.moment(of: index) - stretch.from), length, into: &samples)
      index += length
      // Of a block that has both, what has sound counts.
      if let source, heard == nil || heard == .silence { heard = source.kind }
    }
    // Between two feeds it is still the feed.
    kind = heard ?? (kind == .silence ? .silence : .feed)
  }

  /// - Parameter time: of the source.
  private func read(
    _ source: (any AudioSource)?, at time: Duration, _ frames: Int, into samples: inout [Float]
  ) throws(MediaError) {
    guard let source else { return SilentAudio(format: format).read(from: 0, frames: frames, into: &samples) }
    if clock.isNominal {
      try source.read(from: format.frames(in: time), frames: frames, into: &samples)
    } else {
      let position = Double(time.nanoseconds) * Double(format.sampleRate) / 1e9
      try source.read(
        from: position, step: clock.step, frames: frames, channels: format.channels, into: &samples)
    }
  }

  private mutating func overlay(_ pieces: [Injections.Piece], on samples: inout [Float]) throws(MediaError) {
    let frames = samples.count / format.channels
    try injected.take(pieces) { [clock] in clock.index(nearest: $0) }
    for piece in pieces {
      let place =
        injected.place(of: piece)
        ?? ConvertedInjections.Place(first: clock.index(nearest: piece.start), frames: piece.block.frames)
      let offset = place.first.subtractingSaturating(next)
      let first = max(offset, 0)
      let wanted = min(offset.addingSaturating(place.frames), frames)
      guard first < wanted else { continue }
      let block = try injected.samples(of: piece, frames: wanted - offset)
      let last = min(wanted, offset.addingSaturating(block.count / format.channels))
      guard first < last else { continue }
      let range = (first - offset) * format.channels..<(last - offset) * format.channels
      samples.replaceSubrange(first * format.channels..<last * format.channels, with: block[range])
      kind = .injected
    }
  }

  private mutating func silence(_ spans: [Range<Instant>], in samples: inout [Float]) {
    let frames = samples.count / format.channels
    isMuted = spans.contains { $0.upperBound >= clock.moment(of: next + frames) }
    for span in spans {
      let first = max(clock.index(from: span.lowerBound).subtractingSaturating(next), 0)
      let last = min(clock.index(from: span.upperBound).subtractingSaturating(next), frames)
      guard first < last else { continue }
      for index in first * format.channels..<last * format.channels { samples[index] = 0 }
    }
  }
}
