import Foundation
import Glasswing
import Glibc

/// A file that a command is to make: its name is taken at the start, so that nothing is done in vain, and given back when
/// nothing came.
struct OutputFile {
  let path: String
  private let existed: Bool

  static func claim(_ path: String, overwrites: Bool) throws(CommandFailure) -> OutputFile {
    let existed = access(path, F_OK) == 0
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (overwrites ? 0 : O_EXCL), 0o666)
    guard descriptor < 0 else {
      close(descriptor)
      return OutputFile(path: path, existed: existed)
    }
    throw failure(path, errno)
  }

  /// The whole content; it is on the disk when this returns.
  func write(_ data: Data) throws(CommandFailure) {
    let descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.failure(path, errno) }
    defer { close(descriptor) }
    var rest = data[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      guard count >= 0 || errno == EINTR else { throw Self.failure(path, errno) }
      rest = rest.dropFirst(max(0, count))
    }
    fsync(descriptor)
  }

  /// Nothing came: an empty file of ours goes, one that was there stays.
  func abandon() {
    if !existed { unlink(path) }
  }

  private static func failure(_ path: String, _ code: Int32) -> CommandFailure {
    switch code {
    case EEXIST: CommandFailure(existing: path)
    case ENOENT where access(folder(of: path), F_OK) != 0, ENOTDIR:
      CommandFailure(recording: .folderMissing(path: folder(of: path)))
    case ENOSPC, EDQUOT: CommandFailure(recording: .diskFull(path: path))
    case _: CommandFailure(recording: .notWritable(path: path, reason: String(cString: strerror(code))))
    }
  }

  private static func folder(of path: String) -> String { URL(filePath: path).deletingLastPathComponent().path }
}
