/// The form in which pictures reach listeners.
public enum VideoCodec: Hashable, Sendable {
  /// Decoded: sample buffers with a bi-planar 4:2:0 pixel buffer of video range (`420v`).
  case raw
  /// Compressed: sample buffers with one HEVC access unit each, as in ISO/IEC 14496-15 with parameter sets in the
  /// format description (`hvc1`).
  case hvc1
}

/// The sizes of pictures that a stream can be asked for; all of them upright, nine to sixteen.
public enum StreamingResolution: CaseIterable, Hashable, Sendable {
  /// 720 by 1280 pixels.
  case high
  /// 504 by 896 pixels.
  case medium
  /// 360 by 640 pixels.
  case low

  /// The size in pixels.
  public var videoFrameSize: VideoFrameSize {
    switch self {
    case .high: VideoFrameSize(width: 720, height: 1280)
    case .medium: VideoFrameSize(width: 504, height: 896)
    case .low: VideoFrameSize(width: 360, height: 640)
    }
  }
}

/// A size in pixels.
public struct VideoFrameSize: Sendable {
  public let width: UInt
  public let height: UInt

  public init(width: UInt, height: UInt) {
    self.width = width
    self.height = height
  }
}
