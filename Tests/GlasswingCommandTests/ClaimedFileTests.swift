import Foundation
import Glibc
import TestSupport
import Testing

@testable import GlasswingCommand

@Suite("A command's file")
struct ClaimedFileTests {
  @Test("A file that is written over keeps its permissions and its links, and nothing is left beside it")
  func replaces() throws {
    let path = try MediaFactory.newPath("jpg")
    try Data("old".utf8).write(to: URL(filePath: path))
    try #require(chmod(path, 0o640) == 0)
    let link = try MediaFactory.newPath("link.jpg")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    let file = try ClaimedFile.claim(link, overwrites: true)
    #expect(try Data(contentsOf: URL(filePath: path)) == Data("old".utf8))
    try file.write(Data("new".utf8))
    #expect(try Data(contentsOf: URL(filePath: path)) == Data("new".utf8))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
    var status = stat()
    try #require(stat(path, &status) == 0)
    #expect(status.st_mode & 0o7777 == 0o640)
    let folder = URL(filePath: path).deletingLastPathComponent().path
    #expect(try !FileManager.default.contentsOfDirectory(atPath: folder).contains { $0.hasPrefix(".glasswing-") })
  }

  @Test("Pipes and devices are refused at once", arguments: [true, false])
  func irregular(_ overwrites: Bool) throws {
    let pipe = try MediaFactory.newPath("jpg")
    try #require(mkfifo(pipe, 0o600) == 0)
    for path in [pipe, "/dev/null"] {
      #expect(throws: CommandFailure.self) { try ClaimedFile.claim(path, overwrites: overwrites) }
    }
  }
}
