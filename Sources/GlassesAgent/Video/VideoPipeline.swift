import LinkProtocol
import Units

// Holds the place of the pipeline until its owner's file replaces this one.

package struct EncodedUnit: Sendable {
  func accessUnit(stream: StreamID) -> AccessUnit {
    AccessUnit(
      stream: stream, flags: [], codec: .hevc, size: PixelSize(width: 0, height: 0),
      captured: DeviceTime(nanoseconds: 0), payload: [])
  }
}

package enum PipelineFailure: Error, Hashable, Sendable {
  case source
  var code: LinkErrorCode { .sourceFailed }
  var text: String { "no pipeline yet" }
}

package final class VideoPipeline: Sendable {
  package struct Configuration: Sendable {
    init(feed: FeedDescription, video: VideoParameters, bitrate: Bitrate? = nil, replaysCachedUnits: Bool) {}
  }
  package struct Still: Sendable {
    package var captured: DeviceTime
  }
  package enum StillFailure: Error, Hashable, Sendable {
    case stopped
  }
  private let failed: @Sendable (PipelineFailure) -> Void

  package init(
    _ configuration: Configuration, timekeeper: any Timekeeper, deviceClock: DeviceClock,
    emit: @escaping @Sendable (EncodedUnit) -> Void, failed: @escaping @Sendable (PipelineFailure) -> Void
  ) {
    self.failed = failed
  }

  package func start() { failed(.source) }
  package func requestKeyframe() {}
  package func takeStill(_ completion: @escaping @Sendable (Result<Still, StillFailure>) -> Void) {
    completion(.failure(.stopped))
  }
  package func stop() {}
}
