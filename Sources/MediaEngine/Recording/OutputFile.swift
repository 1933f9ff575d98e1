import Glibc
import Synchronization

/// A file being written, and how much of it is not yet safe from a power cut.
///
/// Written by one thread; `synchronize` may run on another at the same time, which is how the data reaches the disk
/// without a writer waiting for it. Closed with its last reference.
package final class OutputFile: MuxerTarget, Sendable {
  package let path: String
  package let isSeekable = true

  private let descriptor: Int32
  private let written = Atomic<Int>(0)
  private let synchronized = Atomic<Int>(0)
  private let isEntrySynchronized = Atomic<Bool>(false)
  /// How long the file may get.
  private let capacity: Int
  private let forcing: DiskForcing
  /// Where the last whole part ends, and what `written` was then.
  private let wholeEnd = Atomic<Int>(0)
  private let writtenWhole = Atomic<Int>(0)

  /// Creates the file or empties an existing one. While this is held nobody else gets the same file: two writers would
  /// destroy each other's work.
  ///
  /// - Parameters:
  ///   - capacity: how long the file may get before writing fails as on a full device; tests set it.
  ///   - forcing: how data reaches the disk; tests set it.
  ///
  /// Throws `.fileNotWritable`, or `.storageFull`, with the system's words.
  init(path: String, capacity: Int = .max, forcing: DiskForcing = DiskForcing()) throws(MediaError) {
    self.path = path
    self.capacity = capacity
    self.forcing = forcing
    descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw Self.failure("open", errno, .fileNotWritable, path) }
    guard FileLock.take(descriptor) else {
      throw MediaError(.fileNotWritable, while: .writing, FileLock.refusal, path: path)
    }
    // A device has no length to cut.
    guard ftruncate(descriptor, 0) == 0 || errno == EINVAL else {
      throw Self.failure("ftruncate", errno, .fileNotWritable, path)
    }
  }

  deinit { close(descriptor) }

  /// Whether the file has no name any more: it goes when it is closed.
  package var isRemoved: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_nlink == 0
  }

  /// Bytes written that may not survive a power cut.
  package var unsynchronizedBytes: Int {
    written.load(ordering: .acquiring) - synchronized.load(ordering: .acquiring)
  }

  /// Bytes written so far, rewritten ones counted again.
  package var writtenBytes: Int { written.load(ordering: .acquiring) }

  /// Has all that is written so far reach the disk; returns when it has. Blocks for as long as the device takes: call it
  /// at most 1 s apart, on a lane of its own, while there are unsynchronized bytes. The first call includes the file's
  /// entry in its folder.
  package func synchronize() throws(MediaError) {
    let soFar = written.load(ordering: .acquiring)
    let code = forcing.data(descriptor)
    guard code == 0 else { throw Self.failure("fdatasync", code, .writingFailed, path) }
    if !isEntrySynchronized.exchange(true, ordering: .acquiringAndReleasing) { synchronizeFolder() }
    // Two calls at once may end in any order; the mark never goes back.
    _ = synchronized.max(soFar, ordering: .acquiringAndReleasing)
  }

  /// All bytes at the current position. The system's error number, or 0.
  package func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    var rest = bytes
    while !rest.isEmpty {
      let room = capacity == .max ? capacity : capacity - Int(lseek(descriptor, 0, SEEK_CUR))
      guard room > 0 else { return ENOSPC }
      let count = Glibc.write(descriptor, rest.baseAddress, min(rest.count, room))
      if count < 0 {
        guard errno == EINTR else { return errno }
        continue
      }
      written.wrappingAdd(count, ordering: .releasing)
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
    return 0
  }

  /// Writes over bytes that are in the file, and leaves the position as it is. A best effort: what stood there goes on
  /// standing otherwise.
  func overwrite(_ bytes: [UInt8], at offset: Int) {
    guard pwrite(descriptor, bytes, bytes.count, off_t(offset)) > 0 else { return }
    written.wrappingAdd(bytes.count, ordering: .releasing)
  }

  /// Notes that the file is playable as it stands: what is in it ends with a whole part (header, fragment, trailer).
  package func markWhole() {
    let soFar = writtenBytes
    guard soFar != writtenWhole.load(ordering: .relaxed) else { return }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return }
    wholeEnd.store(Int(status.st_size), ordering: .relaxed)
    writtenWhole.store(soFar, ordering: .relaxed)
  }

  /// How much was written when the file last ended with a whole part; any thread.
  var wholeBytes: Int { writtenWhole.load(ordering: .relaxed) }

  /// Takes the part away that a failed write has begun, so that players don't meet its torn end. A best effort: the
  /// failure itself is what the caller reports.
  package func cutToWhole() { _ = ftruncate(descriptor, off_t(wholeEnd.load(ordering: .relaxed))) }

  /// Moves the position; the new one, or the negated error number.
  package func seek(to offset: Int64, from origin: Int32) -> Int64 {
    let position = lseek(descriptor, off_t(offset), origin)
    return position < 0 ? Int64(-errno) : Int64(position)
  }

  /// A best effort: some file systems can't synchronize a folder, and the data is safe without it on most.
  private func synchronizeFolder() {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = forcing.entries(descriptor)
    close(descriptor)
  }

  private static func failure(
    _ function: String, _ code: Int32, _ cause: MediaError.Cause, _ path: String
  ) -> MediaError {
    let full = code == ENOSPC || code == EDQUOT
    let library = MediaError.LibraryFailure(function: function, code: code, text: String(cString: strerror(code)))
    return MediaError(full ? .storageFull : cause, while: .writing, library: library, path: path)
  }
}
