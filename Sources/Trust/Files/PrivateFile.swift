import Glibc

/// Files that are their user's alone: keys, and whom this side is paired with.
///
/// A file has mode 0600 and lies in a folder of mode 0700; one that others could have read or changed is refused and not
/// repaired, since nobody knows what was done with it. Links are not followed. Writing blocks until the content and its
/// name are on the disk: after a crash or a power cut the file has all of its old content or all of the new.
package enum PrivateFile {
  /// All of a file's bytes; nil when there is none.
  static func read(_ path: String, atMost limit: Int) throws(PrivateFileError) -> [UInt8]? {
    // Without waiting, so that a pipe by this name does not hold the process up.
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      switch errno {
      case ENOENT: return nil
      case ELOOP: throw PrivateFileError(.notARegularFile, path: path)
      case let code: throw PrivateFileError(.system(call: "open", code: code), path: path)
      }
    }
    defer { close(descriptor) }
    try check(descriptor, path, kind: S_IFREG)
    try checkFolder(folder(of: path))
    switch SystemCall.readAll(descriptor, atMost: limit) {
    case .success(let bytes): return bytes
    case .failure(let cause): throw PrivateFileError(cause, path: path)
    }
  }

  /// Puts the bytes in the place of what the file has, or makes it.
  static func write(_ path: String, _ bytes: [UInt8]) throws(PrivateFileError) {
    let new = try writeBeside(path, bytes)
    guard rename(new, path) == 0 else {
      let code = errno
      unlink(new)
      throw PrivateFileError(.system(call: "rename", code: code), path: path)
    }
    try syncFolder(of: path)
  }

  /// Makes the file; false, and nothing is changed, when there is one.
  static func create(_ path: String, _ bytes: [UInt8]) throws(PrivateFileError) -> Bool {
    let new = try writeBeside(path, bytes)
    defer { unlink(new) }
    guard link(new, path) == 0 else {
      if errno == EEXIST { return false }
      throw PrivateFileError(.system(call: "link", code: errno), path: path)
    }
    try syncFolder(of: path)
    return true
  }

  /// Gives the file another name beside it: `path.damaged-1`, or the first number that is free. Nothing is written over.
  static func setAside(_ path: String) throws(PrivateFileError) -> String {
    for number in 1...99 {
      let target = "\(path).damaged-\(number)"
      // A link first, since renaming would replace what has the name.
      if link(path, target) == 0 {
        unlink(path)
        try syncFolder(of: path)
        return target
      }
      guard errno == EEXIST else { throw PrivateFileError(.system(call: "link", code: errno), path: path) }
    }
    throw PrivateFileError(.system(call: "link", code: EEXIST), path: path)
  }

  /// The name of a new file with these bytes, on the disk, in the file's folder.
  private static func writeBeside(_ path: String, _ bytes: [UInt8]) throws(PrivateFileError) -> String {
    let folder = folder(of: path)
    try makeFolder(folder)
    try checkFolder(folder)
    let new = "\(path).new-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw PrivateFileError(.system(call: "open", code: errno), path: path) }
    defer { close(descriptor) }
    // Whatever the umask took away.
    var code = fchmod(descriptor, 0o600) == 0 ? 0 : errno
    if code == 0 { code = SystemCall.writeAll(descriptor, bytes) }
    if code == 0, fsync(descriptor) != 0 { code = errno }
    guard code == 0 else {
      unlink(new)
      throw PrivateFileError(.system(call: "write", code: code), path: path)
    }
    return new
  }

  /// Makes a folder for private files, and those above it that are missing, all of mode 0700; one that is there must be
  /// its user's alone.
  package static func prepareFolder(_ path: String) throws(PrivateFileError) {
    try makeFolder(path)
    try checkFolder(path)
  }

  /// The folder and those above it that are missing, all of mode 0700.
  private static func makeFolder(_ path: String) throws(PrivateFileError) {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, path != folder(of: path) else {
      throw PrivateFileError(.system(call: "mkdir", code: errno), path: path)
    }
    try makeFolder(folder(of: path))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw PrivateFileError(.system(call: "mkdir", code: errno), path: path)
    }
  }

  private static func checkFolder(_ path: String) throws(PrivateFileError) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw PrivateFileError(errno == ENOTDIR ? .notAFolder : .system(call: "open", code: errno), path: path)
    }
    defer { close(descriptor) }
    try check(descriptor, path, kind: S_IFDIR)
  }

  /// What was opened is looked at, not what has the name by then.
  private static func check(_ descriptor: Int32, _ path: String, kind: mode_t) throws(PrivateFileError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw PrivateFileError(.system(call: "fstat", code: errno), path: path)
    }
    let isFolder = kind == S_IFDIR
    guard status.st_mode & S_IFMT == kind else {
      throw PrivateFileError(isFolder ? .notAFolder : .notARegularFile, path: path)
    }
    guard status.st_uid == geteuid() else { throw PrivateFileError(.notOwned(user: status.st_uid), path: path) }
    let mode = status.st_mode & 0o777
    guard mode & 0o077 == 0 else {
      throw PrivateFileError(isFolder ? .folderOpenToOthers(mode: mode) : .fileOpenToOthers(mode: mode), path: path)
    }
  }

  private static func syncFolder(of path: String) throws(PrivateFileError) {
    let folder = folder(of: path)
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw PrivateFileError(.system(call: "open", code: errno), path: folder) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw PrivateFileError(.system(call: "fsync", code: errno), path: folder) }
  }

  /// By hand: Foundation's functions for paths in texts trap for some, such as ".".
  static func folder(of path: String) -> String {
    let trimmed = path[..<(path.lastIndex { $0 != "/" }.map { path.index(after: $0) } ?? path.startIndex)]
    guard let slash = trimmed.lastIndex(of: "/") else { return trimmed.isEmpty && !path.isEmpty ? "/" : "." }
    let folder = trimmed[..<slash]
    return folder.isEmpty ? "/" : String(folder)
  }
}
