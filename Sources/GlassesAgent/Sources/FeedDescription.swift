import Units

/// What the camera of simulated glasses sees.
package enum FeedDescription: Hashable, Sendable {
  /// The built-in test pattern.
  case pattern
  /// A file with H.264 or HEVC video, played in a loop.
  case file(path: String)
  /// Pictures that come when they come; who made the feed reads for it.
  case live(LiveFeed)

  /// Opens the feed. Blocks for as long as that takes (tens of milliseconds for a file).
  ///
  /// - Parameters:
  ///   - size: what will be made of the pictures, if known. A feed that can be of any size is of this size then.
  ///   - frameRate: likewise.
  package func makeSource(size: PixelSize? = nil, frameRate: Double? = nil) throws(SourceError) -> any VideoSource {
    switch self {
    case .pattern:
      try PatternSource(
        size: size ?? PatternSource.stillSize, frameRate: frameRate ?? PatternSource.defaultFrameRate)
    case .file(let path): try FileSource(path: path)
    case .live(let feed): try LiveSource(feed)
    }
  }
}
