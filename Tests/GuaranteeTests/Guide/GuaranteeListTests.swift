import Foundation
import Testing

/// docs/guarantees.md and the tests' titles say the same.
struct GuaranteeListTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test("each test that carries a promise's id is listed under it, and each that is listed exists")
  func listMatchesTests() throws {
    let listed = try listedTests()
    let written = try writtenTests()
    #expect(written.count > 50)
    #expect(written.subtracting(listed).sorted() == [], "not listed in docs/guarantees.md")
    #expect(listed.subtracting(written).sorted() == [], "listed in docs/guarantees.md, and not there")
  }

  /// "ID target: title" of each line below a promise.
  private func listedTests() throws -> Set<String> {
    let page = try String(contentsOf: Self.root.appendingPathComponent("docs/guarantees.md"), encoding: .utf8)
    var tests: Set<String> = []
    var id = Substring()
    for line in page.split(separator: "\n") {
      if let match = line.firstMatch(of: /^- \*\*([A-Z]+-\d+)\*\*/) { id = match.1 }
      if let match = line.firstMatch(of: /^  - (\w+): "(.*)"$/) { tests.insert("\(id) \(match.1): \(match.2)") }
    }
    return tests
  }

  private func writtenTests() throws -> Set<String> {
    let folder = Self.root.appendingPathComponent("Tests")
    var tests: Set<String> = []
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where name.hasSuffix(".swift") {
      let source = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
      let target = name.split(separator: "/").first ?? ""
      for title in source.matches(of: /@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)*)"/) {
        for id in title.1.matches(of: Self.promise) { tests.insert("\(id.0) \(target): \(title.1)") }
      }
    }
    return tests
  }

  private static var promise: Regex<Substring> {
    /\b(?:STALL|LOSS|SYNC|AUD|PHOTO|LIFE|ERR|REC|PUB|MOCK|PERM|PERF|DOC|HEALTH)-\d+\b/
  }
}
