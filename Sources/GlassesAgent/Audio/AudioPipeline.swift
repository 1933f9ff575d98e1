import LinkProtocol
import MediaEngine
import Synchronization
import Units

/// Captures and codes the sound of one stream: what a microphone hears in, units out.
///
/// It begins with the feed that the stream's pictures are of, at the same moment, and captures blocks of 20 ms by a clock
/// of its own (`SampleClock`). A block is read when it is over, and its units are stamped with the glasses' time at which
/// their first sample was captured. What is late is made up for without loss; what is later than `longestLag` is left
/// out, and the next unit says so.
///
/// One lane, on which files are opened and read. `stop()` captures what there is up to that moment and sends it on the
/// caller's thread: when it has returned all sound is out, and nothing follows. `emit` is called in order, with a lock
/// held that `stop()` takes; `failed` at most once, after the last unit, when the pipeline ended by itself.
///
/// One that is let go without `stop()` ends by itself.
final class AudioPipeline: Sendable {
  static let blockDuration: Duration = .milliseconds(20)
  static let longestLag: Duration = .seconds(1)

  /// A unit with its stamp, and what is told of it.
  struct Unit: Sendable {
    var audio: CodedAudio
    var captured: DeviceTime
    var source: AudioSourceKind
    var isMuted: Bool
    /// Something before it is missing.
    var isDiscontinuity: Bool
  }

  private enum Phase {
    case idle
    case running(AudioCapture)
    case ended
  }

  private let format: PCMFormat
  private let microphone: GlassesMicrophone
  private let feedClock: FeedClock
  private let timekeeper: any Timekeeper
  private let deviceClock: DeviceClock
  private let chooseCodec: @Sendable (Instant) -> AudioCodecID
  private let emit: @Sendable (Unit) -> Void
  private let failed: @Sendable (String) -> Void
  private let lane: any Lane
  private let state: Mutex<Phase>

  /// - Parameters:
  ///   - format: what is captured, and what listeners get.
  ///   - chooseCodec: asked for each block.
  init(
    format: PCMFormat, microphone: GlassesMicrophone, feedClock: FeedClock, timekeeper: any Timekeeper,
    deviceClock: DeviceClock, chooseCodec: @escaping @Sendable (Instant) -> AudioCodecID,
    emit: @escaping @Sendable (Unit) -> Void, failed: @escaping @Sendable (String) -> Void
  ) {
    self.format = format
    self.microphone = microphone
    self.feedClock = feedClock
    self.timekeeper = timekeeper
    self.deviceClock = deviceClock
    self.chooseCodec = chooseCodec
    self.emit = emit
    self.failed = failed
    lane = timekeeper.makeLane("sound")
    state = Mutex(.idle)
  }

  deinit { lane.end() }

  /// Captures from the moment on at which the feed begins. Once.
  ///
  /// - Parameter isAfterGap: whether the first unit says that something before it is missing.
  func start(isAfterGap: Bool) {
    feedClock.whenBegun { [weak self] moment in
      guard let self else { return }
      lane.run { [weak self] in self?.begin(at: moment, isAfterGap: isAfterGap) }
    }
  }

  /// Sends what was captured up to now, and ends. Idempotent; any thread, also before anything began.
  func stop() {
    let now = timekeeper.now
    state.withLock { phase in
      guard case .running(var capture) = phase else {
        phase = .ended
        return
      }
      // What fails now would have failed later, when nobody asks for it any more.
      try? finish(&capture, at: now)
      phase = .ended
    }
    lane.end()
  }

  // MARK: - On the lane

  private func begin(at moment: Instant, isAfterGap: Bool) {
    let begins = state.withLock { phase in
      guard case .idle = phase else { return false }
      phase = .running(
        AudioCapture(
          format: format, start: moment, deviceDrift: deviceClock.partsPerMillion, marksFirst: isAfterGap))
      return true
    }
    if begins { step() }
  }

  private enum Progress {
    case sentBlock
    /// The next block waits for this source.
    case needs(AudioCapture.Opening)
    /// Nothing to do before then.
    case waits(Instant)
    case ended
  }

  /// Captures the blocks that are over by now.
  private func step() {
    do throws(MediaError) {
      while true {
        switch try advance() {
        case .sentBlock: continue
        case .needs(let opening):
          // With no lock held: it may take a while, and nobody is to wait for it.
          let source = try opening.open(format)
          state.withLock { phase in
            guard case .running(var capture) = phase else { return }
            capture.install(source, for: opening)
            phase = .running(capture)
          }
        case .waits(let moment):
          lane.run(at: moment) { [weak self] in self?.step() }
          return
        case .ended: return
        }
      }
    } catch {
      fail(error.description)
    }
  }

  private func advance() throws(MediaError) -> Progress {
    let now = timekeeper.now
    return try state.withLock { (phase) throws(MediaError) -> Progress in
      guard case .running(var capture) = phase else { return .ended }
      // Taken out, so that its buffers aren't shared while they are changed.
      phase = .ended
      defer { phase = .running(capture) }
      if now - capture.due > Self.longestLag { try skip(&capture, to: now) }
      guard capture.due <= now else { return .waits(capture.due) }
      let conditions = microphone.conditions(from: capture.moment, to: capture.due)
      if let opening = capture.opening(conditions, feedClock) { return .needs(opening) }
      try send(capture.block(conditions, feedClock, codec: chooseCodec(now)))
      return .sentBlock
    }
  }

  private func fail(_ text: String) {
    let fails = state.withLock { phase in
      guard case .running = phase else { return false }
      phase = .ended
      return true
    }
    guard fails else { return }
    lane.end()
    failed(text)
  }

  // MARK: - With the lock held

  private func skip(_ capture: inout AudioCapture, to now: Instant) throws(MediaError) {
    send(try capture.rest())
    capture.skip(to: now)
  }

  private func finish(_ capture: inout AudioCapture, at now: Instant) throws(MediaError) {
    if now - capture.due > Self.longestLag { try skip(&capture, to: now) }
    while capture.due <= now {
      let conditions = microphone.conditions(from: capture.moment, to: capture.due)
      send(try capture.block(conditions, feedClock, codec: chooseCodec(now)))
    }
    let conditions = microphone.conditions(from: capture.moment, to: now)
    send(try capture.last(conditions, feedClock, until: now))
  }

  private func send(_ block: AudioCapture.Block) {
    for audio in block.units {
      let captured = deviceClock.time(at: block.clock.moment(of: audio.index)) + (.zero - audio.early)
      emit(
        Unit(
          audio: audio, captured: captured, source: block.source, isMuted: block.isMuted,
          isDiscontinuity: block.isDiscontinuity && audio.index == block.units.first?.index))
    }
  }
}
