import LinkProtocol
import LinkTransport
import Synchronization

/// One run of pictures of one stream: a pipeline, and the door through which its units reach the link.
final class VideoOutlet: Sendable {
  private let pipeline: VideoPipeline
  private let door: Door

  /// - Parameter observer: sees each unit that reaches the link.
  init(
    stream: StreamID, configuration: VideoPipeline.Configuration, timekeeper: any Timekeeper,
    deviceClock: DeviceClock, connection: LinkConnection, observer: (@Sendable (AccessUnit) -> Void)?,
    failed: @escaping @Sendable (VideoOutlet, PipelineFailure) -> Void
  ) {
    let door = Door()
    self.door = door
    let owner = Owner()
    pipeline = VideoPipeline(
      configuration, timekeeper: timekeeper, deviceClock: deviceClock,
      emit: { unit in
        door.pass {
          let unit = unit.accessUnit(stream: stream)
          observer?(unit)
          connection.send(unit)
        }
      },
      failed: { failure in
        if let outlet = owner.outlet.withLock({ $0.object }) { failed(outlet, failure) }
      })
    owner.outlet.withLock { $0.object = self }
  }

  func start() { pipeline.start() }
  func requestKeyframe() { pipeline.requestKeyframe() }

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
    private let isOpen = Mutex(true)

    func pass(_ work: () -> Void) {
      isOpen.withLock { isOpen in
        if isOpen { work() }
      }
    }

    func shut() { isOpen.withLock { $0 = false } }
  }

  /// The way from the pipeline back to the outlet that holds it.
  private final class Owner: Sendable {
    struct Reference: Sendable { weak var object: VideoOutlet? }
    let outlet = Mutex(Reference())
  }
}
