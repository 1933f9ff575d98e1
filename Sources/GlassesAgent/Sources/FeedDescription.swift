/// What the camera of simulated glasses sees.
package enum FeedDescription: Hashable, Sendable {
  /// The built-in test pattern.
  case pattern
  /// A file with H.264 or HEVC video, played in a loop.
  case file(path: String)
}
