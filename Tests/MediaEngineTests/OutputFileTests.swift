import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import MediaEngine

/// What is asked of the disk while a file is written.
@Suite("A file being written")
struct OutputFileTests {
  /// Which file a descriptor or a path stands for.
  private struct Identity: Equatable {
    let device: dev_t
    let number: ino_t

    init?(_ descriptor: Int32) {
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { return nil }
      (device, number) = (status.st_dev, status.st_ino)
    }

    init?(path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      (device, number) = (status.st_dev, status.st_ino)
    }
  }

  /// A disk that notes what it was asked to keep.
  private final class Disk: Sendable {
    private let asked = Mutex<(data: [Identity?], entries: [Identity?])>(([], []))
    private let code = Mutex<(data: Int32, entries: Int32)>((0, 0))

    var data: [Identity?] { asked.withLock { $0.data } }
    var entries: [Identity?] { asked.withLock { $0.entries } }

    var forcing: DiskForcing {
      DiskForcing(
        data: { descriptor in
          self.asked.withLock { $0.data.append(Identity(descriptor)) }
          return self.code.withLock { $0.data }
        },
        entries: { descriptor in
          self.asked.withLock { $0.entries.append(Identity(descriptor)) }
          return self.code.withLock { $0.entries }
        })
    }

    /// What the calls return from now on.
    func answer(data: Int32 = 0, entries: Int32 = 0) { code.withLock { $0 = (data, entries) } }
  }

  private func write(_ count: Int, to file: OutputFile) {
    #expect([UInt8](repeating: 7, count: count).withUnsafeBytes { file.write($0) } == 0)
  }

  @Test("REC-1: what was written is forced to the disk each time, and the file's name the first time")
  func forces() throws {
    let path = try MediaFactory.newPath("mp4")
    let disk = Disk()
    let file = try OutputFile(path: path, forcing: disk.forcing)
    let itself = try #require(Identity(path: path))
    let folder = try #require(Identity(path: URL(filePath: path).deletingLastPathComponent().path))
    for round in 1...3 {
      write(1000, to: file)
      #expect(file.unsynchronizedBytes == 1000)
      #expect(disk.data.count == round - 1, "writing waits for no disk")
      try file.synchronize()
      #expect(file.unsynchronizedBytes == 0)
      #expect(disk.data == Array(repeating: itself, count: round))
      #expect(disk.entries == [folder])
    }
    // What is written over is no safer than what is added.
    file.overwrite([1, 2, 3], at: 10)
    #expect(file.unsynchronizedBytes == 3)
    try file.synchronize()
    #expect(file.unsynchronizedBytes == 0 && disk.data.count == 4)
  }

  @Test(
    "REC-1: what a disk refuses to keep stays unsafe, and is told in the system's words",
    arguments: [(EIO, MediaError.Cause.writingFailed), (ENOSPC, .storageFull), (EDQUOT, .storageFull)])
  func refused(_ code: Int32, _ cause: MediaError.Cause) throws {
    let disk = Disk()
    let file = try OutputFile(path: try MediaFactory.newPath("mp4"), forcing: disk.forcing)
    write(1000, to: file)
    disk.answer(data: code)
    for _ in 1...2 {
      let error = try #require(throws: MediaError.self) { try file.synchronize() }
      #expect(error.cause == cause && error.path == file.path)
      #expect(error.library?.function == "fdatasync" && error.library?.code == code)
      #expect(error.library?.text == String(cString: strerror(code)))
      #expect(file.unsynchronizedBytes == 1000)
    }
    // A folder that can't be forced is no failure of the data.
    disk.answer(entries: EINVAL)
    try file.synchronize()
    #expect(file.unsynchronizedBytes == 0)
    #expect(disk.data.count == 3 && disk.entries.count == 1)
  }

  @Test("REC-1: unless a test stands in, the system itself is asked")
  func system() throws {
    #expect(DiskForcing().data(-1) == EBADF && DiskForcing().entries(-1) == EBADF)
    let file = try OutputFile(path: try MediaFactory.newPath("mp4"))
    write(1000, to: file)
    try file.synchronize()
    #expect(file.unsynchronizedBytes == 0)
  }
}
