import Foundation
import Glasswing
import Glibc

/// A file that a command is to make: its name is taken at the start, so that nothing is done in vain, and given back when
/// nothing came. Regular files only.
struct ClaimedFile {
  let path: String
  private let existed: Bool

  static func claim(_ path: String, overwrites: Bool) throws(CommandFailure) -> ClaimedFile {
    var status = stat()
    let existed = stat(path, &status) == 0
    // Opening a pipe would wait for a reader, and opening a device may do something.
    if existed, overwrites, status.st_mode & S_IFMT != S_IFREG {
      throw notWritable(path, status.st_mode & S_IFMT == S_IFDIR ? "is a folder" : "not a regular file")
    }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | (overwrites ? 0 : O_EXCL), 0o666)
    guard descriptor >= 0 else { throw failure(path, errno) }
    close(descriptor)
    return ClaimedFile(path: path, existed: existed)
  }

  /// The whole content; it is on the disk when this returns. Whatever fails, the file has all of its old content or all of
  /// the new: that is written beside it and takes its place, with its permissions.
  func write(_ data: Data) throws(CommandFailure) {
    // Through links: what they name is replaced, not they themselves.
    let target = URL(filePath: path).resolvingSymlinksInPath().path
    var name = Array((Self.folder(of: target) + "/.glasswing-XXXXXX").utf8CString)
    let descriptor = mkstemp(&name)
    guard descriptor >= 0 else { throw Self.failure(path, errno) }
    let code = Self.fill(descriptor, with: data, asIn: target)
    close(descriptor)
    guard code == 0, rename(name, target) == 0 else {
      let code = code == 0 ? errno : code
      unlink(name)
      throw Self.failure(path, code)
    }
    let folder = open(Self.folder(of: target), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }

  /// - Returns: 0, or the system's error number.
  private static func fill(_ descriptor: Int32, with data: Data, asIn model: String) -> Int32 {
    var status = stat()
    guard stat(model, &status) == 0, fchmod(descriptor, status.st_mode & 0o7777) == 0 else { return errno }
    var rest = data[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      guard count >= 0 || errno == EINTR else { return errno }
      rest = rest.dropFirst(max(0, count))
    }
    return fsync(descriptor) == 0 ? 0 : errno
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
    case ENOSPC, EDQUOT: CommandFailure(subject: path, "can't be written: the disk is full", next: "free some space")
    case _: notWritable(path, String(cString: strerror(code)))
    }
  }

  private static func notWritable(_ path: String, _ reason: String) -> CommandFailure {
    CommandFailure(recording: .notWritable(path: path, reason: reason))
  }

  private static func folder(of path: String) -> String { URL(filePath: path).deletingLastPathComponent().path }
}
