/// What `--video-out` writes.
enum VideoOutFormat: String, CaseIterable, Hashable, Sendable {
  /// Decoded pictures, nothing between them.
  case i420
  /// Decoded pictures behind a line that says size and rate.
  case y4m
  /// Access units as the glasses encoded them, behind start codes.
  case hevc
  /// The same with their times.
  case nut

  /// By a file's name; nil where its ending says nothing.
  init?(path: String) {
    guard let dot = path.lastIndex(of: "."), path[dot...].dropFirst().allSatisfy({ $0 != "/" }) else { return nil }
    switch path[dot...].dropFirst().lowercased() {
    case "i420", "yuv": self = .i420
    case "y4m": self = .y4m
    case "hevc", "h265", "265": self = .hevc
    case "nut": self = .nut
    case _: return nil
    }
  }
}
