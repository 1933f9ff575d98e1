import LinkProtocol
import Synchronization
import Units

@testable import GlassesAgent

/// A pipeline on a clock that tests move, with all it emitted.
final class PipelineRig: Sendable {
  private final class Record: Sendable {
    let units = Mutex<[EncodedUnit]>([])
    let failures = Mutex<[PipelineFailure]>([])
  }

  let clock: ManualTimekeeper
  let pipeline: VideoPipeline
  private let record = Record()

  var units: [EncodedUnit] { record.units.withLock { $0 } }
  var failures: [PipelineFailure] { record.failures.withLock { $0 } }

  /// Seconds of capture since the first unit.
  var stamps: [Double] {
    let units = units
    guard let first = units.first else { return [] }
    return units.map { ($0.captured - first.captured).seconds }
  }

  var syncIndices: [Int] {
    let units = units
    return units.indices.filter { units[$0].flags.contains(.sync) }
  }

  /// - Parameters:
  ///   - source: opened each time the pipeline asks for one; nil: the pattern.
  ///   - wrap: puts another timekeeper around the clock.
  init(
    size: PixelSize = PixelSize(width: 64, height: 96), frameRate: UInt8 = 24, replays: Bool = false,
    deviceClock: DeviceClock = .identity, bitrate: Bitrate? = nil, keyframeInterval: Duration? = nil,
    cache: AccessUnitCache = AccessUnitCache(),
    source: SourceOpener? = nil, wrap: (ManualTimekeeper) -> any Timekeeper = { $0 }
  ) {
    let clock = ManualTimekeeper()
    self.clock = clock
    var configuration = VideoPipeline.Configuration(
      feed: .pattern, video: VideoParameters(codec: .hevc, size: size, frameRate: frameRate), bitrate: bitrate,
      replaysCachedUnits: replays)
    configuration.keyframeInterval = keyframeInterval
    let pattern: SourceOpener = { (size, rate) throws(SourceError) in
      try FeedDescription.pattern.makeSource(size: size, frameRate: rate)
    }
    let record = record
    pipeline = VideoPipeline(
      configuration, timekeeper: wrap(clock), deviceClock: deviceClock, openSource: source ?? pattern, cache: cache,
      emit: { unit in record.units.withLock { $0.append(unit) } },
      failed: { failure in record.failures.withLock { $0.append(failure) } })
  }
}
