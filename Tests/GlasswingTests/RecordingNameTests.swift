import Foundation
import Glibc
import TestSupport
import Testing

@testable import Glasswing

@Suite("The recorder's files")
struct RecordingNameTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "recording-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  @Test(
    "A recording goes on in a file whose name has a number",
    arguments: [
      ("/a/walk.mp4", 1, "/a/walk.mp4"), ("/a/walk.mp4", 2, "/a/walk-002.mp4"),
      ("walk.tar.mkv", 12, "walk.tar-012.mkv"),
      ("/a.b/walk", 2, "/a.b/walk-002"), ("walk.mov", 1234, "walk-1234.mov"), ("a/.mp4", 2, "a/.mp4-002"),
      (".", 2, ".-002"), ("./////G//", 2, "./////G//-002"),
    ])
  func partNames(_ path: String, _ part: Int, _ expected: String) {
    #expect(RecordingName.path(path, part: part) == expected)
  }

  @Test(
    "A file's folder is found for any path",
    arguments: [
      ("/a/b.mp4", "/a"), ("b.mp4", "."), ("./b.mp4", "."), ("/b.mp4", "/"), ("/", "/"), ("//", "/"), ("", "."),
      (".", "."), ("./", "."), ("a/b/", "a"), ("a//b", "a/"),
    ])
  func folders(_ path: String, _ folder: String) {
    #expect(RecordingName.folder(of: path) == folder)
  }

  @Test("Each part of a recording has a name of its own, whatever the first one's is")
  func strangeNames() {
    let name = Array("/a.b/wälk .x.mp4".utf8)
    for damaged in DecoderVerifier.damaged(name) {
      let path = String(decoding: damaged, as: UTF8.self)
      let parts = Set((1...4).map { RecordingName.path(path, part: $0) })
      #expect(parts.count == 4 && parts.contains(path), "\(path)")
    }
  }

  @Test("A file that exists is left as it is, unless it may be overwritten")
  func existingFile() throws {
    let path = folder.appending(path: "a.mp4").path
    try Data("mine".utf8).write(to: URL(filePath: path))
    #expect(throws: RecorderError.fileExists(path: path)) { try RecordingName.claim(path, overwrites: false) }
    #expect(try Data(contentsOf: URL(filePath: path)) == Data("mine".utf8))
    try RecordingName.claim(path, overwrites: true)
    #expect(try Data(contentsOf: URL(filePath: path)) == Data("mine".utf8), "until there is a first frame")
    try FileManager.default.removeItem(at: folder)
  }

  @Test("A recording goes on in the next name that is free")
  func nextFreeName() throws {
    let path = folder.appending(path: "a.mp4").path
    try Data().write(to: URL(filePath: RecordingName.path(path, part: 2)))
    let (claimed, part) = try RecordingName.claim(following: path, part: 2, overwrites: false)
    #expect(claimed == RecordingName.path(path, part: 3))
    #expect(part == 3)
    #expect(try RecordingName.claim(following: path, part: 2, overwrites: true).1 == 2)
    try FileManager.default.removeItem(at: folder)
  }

  @Test("What can't be made says why")
  func refusals() throws {
    let missing = folder.appending(path: "no/a.mp4").path
    #expect(throws: RecorderError.folderMissing(path: folder.appending(path: "no").path)) {
      try RecordingName.claim(missing, overwrites: false)
    }
    #expect(throws: RecorderError.notWritable(path: folder.path, reason: "Is a directory")) {
      try RecordingName.claim(folder.path, overwrites: true)
    }
    let pipe = folder.appending(path: "pipe.mp4").path
    try #require(mkfifo(pipe, 0o600) == 0)
    for irregular in [pipe, "/dev/null"] {
      #expect(throws: RecorderError.notWritable(path: irregular, reason: "not a regular file")) {
        try RecordingName.claim(irregular, overwrites: true)
      }
    }
    try FileManager.default.removeItem(at: folder)
  }

  @Test("Containers are known by their endings, in any case")
  func containers() {
    #expect(RecordingContainer(pathExtension: "MP4") == .mp4)
    #expect(RecordingContainer(pathExtension: "mov") == .mov)
    #expect(RecordingContainer(pathExtension: "Mkv") == .mkv)
    #expect(RecordingContainer(pathExtension: "avi") == nil)
  }
}
