import Foundation

/// The kinds of file that a recorder writes.
public enum RecordingContainer: String, Codable, Hashable, Sendable, CaseIterable {
  /// Fragmented MP4 (ISO/IEC 14496-12).
  case mp4
  /// The same in QuickTime's form.
  case mov
  /// Matroska (RFC 9559).
  case mkv
  /// Sound alone, as floating point samples in RIFF form.
  case wav
  /// Sound alone, compressed without loss (RFC 9639).
  case flac

  /// By a file's ending, without regard to case; nil for others.
  public init?(pathExtension: String) { self.init(rawValue: pathExtension.lowercased()) }
}

/// The names of a recording's files.
enum RecordingName {
  static func path(_ path: String, part: Int) -> String {
    guard part > 1 else { return path }
    let digits = String(part)
    let number = "-" + String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    // A dot that begins a name begins no ending.
    let name = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    guard let dot = path[name...].lastIndex(of: "."), dot > name else { return path + number }
    return path[..<dot] + number + path[dot...]
  }

  /// By hand: Foundation's functions for paths in texts trap for some, such as ".".
  static func folder(of path: String) -> String {
    let trimmed = path[..<(path.lastIndex { $0 != "/" }.map { path.index(after: $0) } ?? path.startIndex)]
    guard let slash = trimmed.lastIndex(of: "/") else { return trimmed.isEmpty && !path.isEmpty ? "/" : "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
