import LinkProtocol
import MediaEncoding
import Synchronization
import Units

/// What the parts of one pipeline share.
final class PipelineContext: Sendable {
  private enum Phase {
    case idle, running, ended
  }

  let configuration: VideoPipeline.Configuration
  let timekeeper: any Timekeeper
  let deviceClock: DeviceClock
  let openSource: SourceOpener
  /// Moved by the producer, for the sound of the feed.
  let feedClock: FeedClock
  let keyframeRequests = KeyframeRequests()
  let stills = StillTickets()
  private let emit: @Sendable (EncodedUnit) -> Void
  private let failed: @Sendable (PipelineFailure) -> Void
  private let phase = Mutex(Phase.idle)
  private let counters = Mutex(PipelineStatistics())
  private let aim: Mutex<Aim>

  /// What pictures are made as.
  struct Aim: Sendable {
    var rung: Ladder.Rung
    /// What the encoder is to keep to; replayed units can't.
    var target: Bitrate
  }

  init(
    configuration: VideoPipeline.Configuration, timekeeper: any Timekeeper, deviceClock: DeviceClock,
    openSource: @escaping SourceOpener, feedClock: FeedClock, emit: @escaping @Sendable (EncodedUnit) -> Void,
    failed: @escaping @Sendable (PipelineFailure) -> Void
  ) {
    self.configuration = configuration
    self.timekeeper = timekeeper
    self.deviceClock = deviceClock
    self.openSource = openSource
    self.feedClock = feedClock
    self.emit = emit
    self.failed = failed
    let video = configuration.video
    let start = configuration.bitrate ?? VideoBitrate.default(for: video.size, frameRate: Double(video.frameRate))
    aim = Mutex(Aim(rung: Ladder.Rung(video: video, bitrate: start), target: start))
  }

  var rung: Ladder.Rung { aim.withLock { $0.rung } }
  var target: Bitrate { aim.withLock { $0.target } }
  func follow(_ rung: Ladder.Rung, target: Bitrate) { aim.withLock { $0 = Aim(rung: rung, target: target) } }

  /// What the source is opened for, whatever is sent of it.
  var requestedRate: Double { Double(max(configuration.video.frameRate, 1)) }

  var statistics: PipelineStatistics { counters.withLock { $0 } }

  func count(_ change: (inout PipelineStatistics) -> Void) { counters.withLock { change(&$0) } }

  var isRunning: Bool { phase.withLock { $0 == .running } }

  /// True for the call that begins the pipeline.
  func begin() -> Bool {
    phase.withLock { phase in
      guard phase == .idle else { return false }
      phase = .running
      return true
    }
  }

  /// True for the call that ends the pipeline, also one that never began.
  func end() -> Bool {
    phase.withLock { phase in
      guard phase != .ended else { return false }
      phase = .ended
      return true
    }
  }

  func send(_ picture: EncodedPicture, as video: VideoParameters, captured: Instant) {
    guard isRunning else { return }
    let flags: AccessUnit.Flags = picture.isSync ? [.sync, .parameterSets] : []
    count {
      $0.emitted += 1
      $0.syncUnits += picture.isSync ? 1 : 0
      $0.bytes += Int64(picture.payload.count)
    }
    emit(
      EncodedUnit(
        payload: picture.payload, flags: flags, video: video,
        captured: deviceClock.time(at: captured)))
  }

  /// Ends the pipeline for a cause of its own; only the first one is told.
  func fail(_ failure: PipelineFailure, stopping producer: any UnitProducer) {
    guard end() else { return }
    feedClock.end(at: timekeeper.now)
    producer.stop()
    stills.finishAll(.failure(.stopped))
    failed(failure)
  }
}

/// "The next one shall be a sync unit", from any thread to the one that makes it.
final class KeyframeRequests: Sendable {
  private let isAsked = Atomic<Bool>(false)

  func request() { isAsked.store(true, ordering: .relaxed) }

  /// True once after any number of requests.
  func take() -> Bool { isAsked.exchange(false, ordering: .relaxed) }
}

/// Photos that wait for their picture; each is answered exactly once, by whoever comes first.
final class StillTickets: Sendable {
  typealias Completion = @Sendable (Result<VideoPipeline.Still, VideoPipeline.StillFailure>) -> Void

  struct Ticket: Hashable, Sendable {
    fileprivate let number: UInt64
  }

  private struct State {
    var next: UInt64 = 0
    var waiting: [UInt64: Completion] = [:]
  }

  private let state = Mutex(State())

  func add(_ completion: @escaping Completion) -> Ticket {
    state.withLock { state in
      defer { state.next += 1 }
      state.waiting[state.next] = completion
      return Ticket(number: state.next)
    }
  }

  func finish(_ ticket: Ticket, _ result: Result<VideoPipeline.Still, VideoPipeline.StillFailure>) {
    let completion = state.withLock { $0.waiting.removeValue(forKey: ticket.number) }
    completion?(result)
  }

  func finishAll(_ result: Result<VideoPipeline.Still, VideoPipeline.StillFailure>) {
    let all = state.withLock { state in
      defer { state.waiting = [:] }
      return state.waiting
    }
    for (_, completion) in all.sorted(by: { $0.key < $1.key }) { completion(result) }
  }
}
