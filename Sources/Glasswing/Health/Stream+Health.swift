import LinkProtocol
import MWDATCamera
import MWDATCore
import Units

extension MWDATCamera.Stream {
  /// The stream's figures now. Any thread; costs a lock and a walk over a few hundred counters.
  public var statistics: StreamStatistics {
    StreamStatistics(telemetry, hasAudio: streamConfiguration.audioCodec != nil)
  }

  /// Tells what happens to the stream besides states, frames and errors. Nothing is replayed. Listeners are called on a
  /// thread of the stream's, in order.
  public var healthPublisher: any Announcer<StreamHealthEvent> { HealthAnnouncer(source: telemetryPublisher) }

  /// What app and glasses agreed on, as last changed; nil before the first agreement. `streamConfiguration` keeps what
  /// was asked.
  public var negotiatedConfiguration: NegotiatedVideo? { telemetry.negotiatedVideo.map { NegotiatedVideo($0) } }

  /// Asks the glasses for a keyframe (a picture that decodes alone) as the next one, and again with growing pauses until one
  /// has come. Any thread; returns at once. One request serves all who ask within 100 ms; while nothing streams, or the
  /// session is paused, it does nothing.
  public func requestKeyframe() { askForKeyframe() }

  /// How long streams that are made from now on may take from `.starting` to their first picture before they end by an error;
  /// 10 s unless set. For the whole process.
  public static var startDeadline: Duration {
    get { limits.start }
    set { limits.start = newValue }
  }
}

/// Health events are the stream's own telemetry in public words, made only while somebody listens.
private struct HealthAnnouncer: Announcer {
  let source: any Announcer<StreamTelemetryEvent>

  func listen(_ listener: @escaping @Sendable (StreamHealthEvent) -> Void) -> any AnyListenerToken {
    source.listen { event in
      if let event = StreamHealthEvent(event) { listener(event) }
    }
  }
}

extension NegotiatedVideo {
  init(_ video: VideoParameters) {
    self.init(width: video.size.width, height: video.size.height, frameRate: Int(video.frameRate))
  }
}

extension StreamStatistics {
  init(_ telemetry: StreamTelemetry, hasAudio: Bool) {
    self.init(
      frames: telemetry.frames, units: telemetry.units, bytes: telemetry.bytes,
      framesPerSecond: telemetry.framesPerSecond, unitsPerSecond: telemetry.unitsPerSecond,
      bitsPerSecond: telemetry.bitrate.bitsPerSecond, ageP50: telemetry.ages.percentile(0.5),
      ageP95: telemetry.ages.percentile(0.95), firstFrame: telemetry.firstFrame,
      drops: Drops(
        lost: telemetry.drops.lost, withheld: telemetry.drops.withheld, stale: telemetry.drops.stale,
        decoderBehind: telemetry.drops.decodeQueue, undecodable: telemetry.drops.undecodable,
        listeners: telemetry.drops.listeners),
      audio: hasAudio ? AudioStatistics(telemetry.sound) : nil, gaps: telemetry.gaps, stalls: telemetry.stalls,
      stalledTime: telemetry.stalledTime,
      recentStalls: telemetry.recentStalls.map {
        Stall(startHostNanoseconds: $0.began.nanoseconds, length: $0.length, isOver: $0.isOver)
      },
      keyframeRequests: telemetry.keyframeRequests, keyframes: telemetry.syncUnits,
      starts: telemetry.starts, failures: telemetry.failures, failureTexts: telemetry.errorTexts)
  }
}
