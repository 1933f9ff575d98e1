import Foundation
import Glibc
import MediaEngine
import Synchronization

/// Where `--video-out` goes: standard output, a named pipe, a device, or a file. Written by one thread at a time; a write
/// waits for as long as a reader does.
final class VideoOutTarget: MuxerTarget, Sendable {
  let path: String
  /// Pipes are what this is for, and a file gets the same bytes.
  let isSeekable = false

  private let descriptor: Int32
  /// A file of our making that goes again when nothing came.
  private let isNew: Bool
  /// A file that is emptied when the first bytes come, not before.
  private let isOld: Bool
  private let written = Atomic<Int>(0)
  /// The system's error number of the first write that failed; 0 while none has.
  private let failure = Atomic<Int32>(0)

  private init(path: String, descriptor: Int32, isNew: Bool = false, isOld: Bool = false) {
    self.path = path
    self.descriptor = descriptor
    self.isNew = isNew
    self.isOld = isOld
  }

  deinit {
    // While the lock still keeps others from the file.
    if isNew, writtenBytes == 0 { unlink(path) }
    close(descriptor)
  }

  var writtenBytes: Int { written.load(ordering: .acquiring) }

  /// Why nothing more can be written; nil while it can.
  var failureCode: Int32? {
    let code = failure.load(ordering: .acquiring)
    return code == 0 ? nil : code
  }

  static func standardOutput() throws(CommandFailure) -> VideoOutTarget {
    guard isatty(STDOUT_FILENO) == 0 else {
      throw CommandFailure(
        subject: "standard output", "is a terminal, which can't show pictures",
        next: "pipe it into a program, or name a file after --video-out")
    }
    let descriptor = dup(STDOUT_FILENO)
    guard descriptor >= 0 else { throw failure("standard output", errno) }
    return VideoOutTarget(path: "standard output", descriptor: descriptor)
  }

  /// Blocks while a named pipe has no reader. A regular file is nobody else's for as long as this is held.
  static func open(_ path: String, overwrites: Bool) throws(CommandFailure) -> VideoOutTarget {
    var status = stat()
    let exists = stat(path, &status) == 0
    let kind = status.st_mode & S_IFMT
    if exists, kind == S_IFDIR { throw notWritable(path, "is a folder") }
    if exists, kind == S_IFREG, !overwrites { throw CommandFailure(existing: path) }
    let descriptor = Glibc.open(path, O_WRONLY | O_CLOEXEC | (exists ? 0 : O_CREAT | O_EXCL), 0o666)
    guard descriptor >= 0 else { throw failure(path, errno) }
    guard exists && kind != S_IFREG || FileLock.take(descriptor) else {
      close(descriptor)
      throw notWritable(path, "can't be written: \(FileLock.refusal)")
    }
    return VideoOutTarget(path: path, descriptor: descriptor, isNew: !exists, isOld: exists && kind == S_IFREG)
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    if let code = failureCode { return code }
    if isOld, writtenBytes == 0, ftruncate(descriptor, 0) != 0 { return fail(errno) }
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
      if count < 0 {
        if errno == EINTR { continue }
        // Somebody else who shares the pipe has made it non-blocking.
        guard errno == EAGAIN else { return fail(errno) }
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&room, 1, -1)
        continue
      }
      written.wrappingAdd(count, ordering: .releasing)
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
    return 0
  }

  func write(_ bytes: [UInt8]) -> Int32 { bytes.withUnsafeBytes { write($0) } }

  func seek(to offset: Int64, from origin: Int32) -> Int64 { Int64(-ESPIPE) }
  func markWhole() {}
  func cutToWhole() {}

  private func fail(_ code: Int32) -> Int32 {
    failure.store(code, ordering: .releasing)
    return code
  }

  private static func failure(_ path: String, _ code: Int32) -> CommandFailure {
    switch code {
    case EEXIST: CommandFailure(existing: path)
    case ENOENT, ENOTDIR:
      CommandFailure(subject: path, "there is no such folder", next: "make it, or name another file after --video-out")
    case _: notWritable(path, "can't be written: \(String(cString: strerror(code)))")
    }
  }

  private static func notWritable(_ path: String, _ words: String) -> CommandFailure {
    CommandFailure(subject: path, words, next: "name another file after --video-out")
  }
}
