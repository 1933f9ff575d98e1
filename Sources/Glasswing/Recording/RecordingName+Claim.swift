import Glibc
import MediaEngine

/// Taking the names of a recording's files, and giving them back.
extension RecordingName {
  /// Takes a name, without a race: the file is made, empty. One that is there and may be overwritten keeps its content
  /// until the recording begins.
  ///
  /// - Returns: whether the file was made, and so may be removed when nothing comes.
  /// - Throws: `fileExists`, `folderMissing`, `notWritable`, `diskFull`.
  @discardableResult
  static func claim(_ path: String, overwrites: Bool) throws(RecorderError) -> Bool {
    let made = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_EXCL, 0o666)
    guard made < 0 else {
      close(made)
      return true
    }
    if errno == EEXIST, overwrites {
      // Opening a pipe would wait for a reader, and opening a device may do something.
      if let reason = irregularity(of: path) { throw .notWritable(path: path, reason: reason) }
      let found = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
      guard found < 0 else {
        defer { close(found) }
        guard FileLock.take(found) else { throw .notWritable(path: path, reason: FileLock.refusal) }
        return false
      }
    }
    switch errno {
    case EEXIST: throw .fileExists(path: path)
    // Where names can't be made at all, such as in /proc, the system says the same.
    case ENOENT where access(folder(of: path), F_OK) != 0, ENOTDIR: throw .folderMissing(path: folder(of: path))
    case ENOSPC, EDQUOT: throw .diskFull(path: path)
    case let code: throw .notWritable(path: path, reason: String(cString: strerror(code)))
    }
  }

  /// Removes a file that the claim made and nothing was written to, also not by another recording that took it over.
  static func giveBack(_ path: String) {
    let found = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
    guard found >= 0 else { return }
    defer { close(found) }
    var status = stat()
    if FileLock.take(found), fstat(found, &status) == 0, status.st_size == 0 { unlink(path) }
  }

  /// Claims the name in which a recording goes on: `walk.mp4` gives `walk-002.mp4`, the next number if that is taken.
  ///
  /// - Returns: the path and the number it has.
  static func claim(following path: String, part: Int, overwrites: Bool) throws(RecorderError) -> (String, Int) {
    for number in part..<part + 1000 {
      let candidate = Self.path(path, part: number)
      do throws(RecorderError) {
        try claim(candidate, overwrites: overwrites)
        return (candidate, number)
      } catch {
        guard case .fileExists = error else { throw error }
      }
    }
    throw .fileExists(path: Self.path(path, part: part))
  }

  /// Why what is there, links followed, can't be a recording; nil for a regular file and for what can't be asked.
  private static func irregularity(of path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return nil
    case S_IFDIR: return String(cString: strerror(EISDIR))
    case _: return "not a regular file"
    }
  }
}
