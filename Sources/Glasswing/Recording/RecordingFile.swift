import Foundation
import Glibc

/// The kinds of file that a recorder writes.
public enum RecordingContainer: String, Codable, Hashable, Sendable, CaseIterable {
  /// Fragmented MP4 (ISO/IEC 14496-12).
  case mp4
  /// The same in QuickTime's form.
  case mov
  /// Matroska (RFC 9559).
  case mkv

  /// By a file's ending, without regard to case; nil for others.
  public init?(pathExtension: String) { self.init(rawValue: pathExtension.lowercased()) }
}

/// A file that a recorder made: its name is taken without a race, and its data can be forced to the disk.
///
/// The muxer writes through a descriptor of its own; `synchronize` reaches the same data, as the kernel's cache is by file.
final class RecordingFile: Sendable {
  let path: String
  private let descriptor: Int32

  /// - Throws: `fileExists`, `folderMissing`, `notWritable`, `diskFull`.
  init(path: String, overwrites: Bool) throws(RecorderError) {
    self.path = path
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (overwrites ? O_TRUNC : O_EXCL)
    descriptor = open(path, flags, 0o666)
    guard descriptor < 0 else { return }
    switch errno {
    case EEXIST: throw .fileExists(path: path)
    case ENOENT, ENOTDIR: throw .folderMissing(path: (path as NSString).deletingLastPathComponent)
    case ENOSPC, EDQUOT: throw .diskFull(path: path)
    case let code: throw .notWritable(path: path, reason: String(cString: strerror(code)))
    }
  }

  deinit { close(descriptor) }

  /// Waits until what was written is on the disk. False when the disk says it isn't.
  @discardableResult
  func synchronize() -> Bool { fdatasync(descriptor) == 0 }

  /// Forces the file's name to the disk too; once is enough.
  func synchronizeFolder() {
    let folder = (path as NSString).deletingLastPathComponent
    let descriptor = open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  func remove() { unlink(path) }

  /// The name of the file in which a recording goes on: `walk.mp4` gives `walk-002.mp4`, `walk-003.mp4`…
  static func path(_ path: String, part: Int) -> String {
    guard part > 1 else { return path }
    let ending = (path as NSString).pathExtension
    let stem = (path as NSString).deletingPathExtension
    let digits = String(part)
    let number = String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    return ending.isEmpty ? "\(stem)-\(number)" : "\(stem)-\(number).\(ending)"
  }
}
