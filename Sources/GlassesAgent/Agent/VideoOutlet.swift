import LinkProtocol
import LinkTransport
import Synchronization

/// One run of pictures of one stream: a pipeline, the door through which its units reach the link, and what the link
/// carries back to the pipeline.
final class VideoOutlet: Sendable {
  private let pipeline: VideoPipeline
  private let door: Door
  private let rate: VideoRate
  private let connection: LinkConnection

  /// - Parameters:
  ///   - isAfterGap: whether the first unit says that something before it is missing.
  ///   - observer: sees each unit that reaches the link.
  init(
    stream: StreamID, isAfterGap: Bool, configuration: VideoPipeline.Configuration, rate: VideoRate,
    timekeeper: any Timekeeper, feedClock: FeedClock, deviceClock: DeviceClock, connection: LinkConnection,
    observer: (@Sendable (AccessUnit) -> Void)?,
    failed: @escaping @Sendable (VideoOutlet, PipelineFailure) -> Void
  ) {
    let door = Door(marksNext: isAfterGap)
    self.door = door
    self.rate = rate
    self.connection = connection
    let owner = Owner()
    pipeline = VideoPipeline(
      configuration, timekeeper: timekeeper, deviceClock: deviceClock, feedClock: feedClock,
      emit: { unit in
        door.pass { marked in
          // Control overtakes video, so this arrives before the unit, and before older units that still wait.
          if let reason = rate.announce(unit.video) {
            connection.send(.streamChanged(StreamChanged(stream: stream, video: unit.video, reason: reason)))
          }
          var unit = unit.accessUnit(stream: stream)
          if marked { unit.flags.insert(.discontinuity) }
          observer?(unit)
          connection.send(unit)
        }
        owner.outlet.withLock { $0.object }?.followLink()
      },
      failed: { failure in
        if let outlet = owner.outlet.withLock({ $0.object }) { failed(outlet, failure) }
      })
    owner.outlet.withLock { $0.object = self }
    pipeline.follow(rate.rung, target: rate.target)
  }

  func start() { pipeline.start() }
  func requestKeyframe() { pipeline.requestKeyframe() }

  /// The link's queue ran over, and only a sync unit may follow: of a size and rate that the link carries.
  func overflowed(asksForKeyframe: Bool) {
    followLink()
    if asksForKeyframe { pipeline.requestKeyframe() }
  }

  private func followLink() {
    if let (rung, target) = rate.look(connection.videoFlow) { pipeline.follow(rung, target: target) }
  }

  func takeStill(_ completion: @escaping @Sendable (Result<VideoPipeline.Still, VideoPipeline.StillFailure>) -> Void) {
    pipeline.takeStill(completion)
  }

  /// No unit reaches the link once this has returned.
  func stop() {
    door.shut()
    pipeline.stop()
  }

  /// Shut under the same lock that a unit passes, since an encoder under way may still emit after the pipeline's stop.
  private final class Door: Sendable {
    private struct State {
      var isOpen = true
      var marksNext: Bool
    }

    private let state: Mutex<State>

    init(marksNext: Bool) { state = Mutex(State(marksNext: marksNext)) }

    /// - Parameter work: is told whether this one is to be marked.
    func pass(_ work: (Bool) -> Void) {
      state.withLock { state in
        guard state.isOpen else { return }
        work(state.marksNext)
        state.marksNext = false
      }
    }

    func shut() { state.withLock { $0.isOpen = false } }
  }

  /// The way from the pipeline back to the outlet that holds it.
  private final class Owner: Sendable {
    struct Reference: Sendable { weak var object: VideoOutlet? }
    let outlet = Mutex(Reference())
  }
}
