import Foundation
import LinkTransport
import TestSupport
import Testing
import Trust

@testable import GlassesAgent

@Suite("The folder of a pair of glasses")
struct GlassesHomeTests {
  private func withFolder(_ body: (String) throws -> Void) throws {
    let parent = try ServedGlasses.newFolder()
    defer { try? FileManager.default.removeItem(atPath: parent) }
    try body("\(parent)/a/b")
  }

  @Test(
    "A folder that others can open is refused, a damaged list set aside with words, a name that can't be shown refused")
  func refused() throws {
    try withFolder { folder in
      _ = try GlassesHome(folder)
      try Data("{\"version\":1,".utf8).write(to: URL(filePath: "\(folder)/hosts.json"))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(folder)/hosts.json")
      let warnings = try GlassesHome(folder).warnings
      #expect(warnings.count == 1 && warnings.first?.contains("damaged") == true)
      #expect(throws: GlassesHomeError.badName) { try GlassesHome(folder, name: "a\u{1B}[2J") }
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
      let error = #expect(throws: GlassesHomeError.self) { try GlassesHome(folder) }
      #expect(error?.description.contains("chmod 700") == true)
    }
  }
}
