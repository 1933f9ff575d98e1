import MWDATCamera
import MWDATCore

/// What one listener of a stream's frames has had since it began to listen.
///
/// Frames wait for each listener by itself: the newest 3 of a `.raw` stream, the newest 32 of a compressed one. When one
/// more comes, the oldest is dropped for this listener alone; of compressed frames also those that can't be decoded without
/// it, up to the next keyframe.
public struct FrameListenerStatistics: Codable, Hashable, Sendable {
  /// 1 for the stream's first listener, rising; never used again. Health events name listeners by it.
  public let number: Int
  /// Frames that its closure was called with, the present call included.
  public let delivered: Int
  /// Frames that it was too slow for.
  public let dropped: Int
}

extension MWDATCamera.Stream {
  /// The present listeners of `videoFramePublisher`, those of recorders included, oldest first. Those that left count in
  /// `statistics.drops.listeners` only. Any thread.
  public var frameListeners: [FrameListenerStatistics] {
    frameListenerCounts.map {
      FrameListenerStatistics(number: $0.number, delivered: $0.counts.delivered, dropped: $0.counts.dropped)
    }
  }
}
