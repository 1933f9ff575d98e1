import Foundation
import Glasswing
import Testing

/// docs/health.md names what the code has, and nothing else.
@Suite("Page on health")
struct HealthPageTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
  }

  /// The first cell of each row of the table under a heading, without its quotes; one that names several gives each.
  private func firstCells(of heading: String, in page: String) throws -> [String] {
    let section = try #require(page.components(separatedBy: "\n## \(heading)\n").dropFirst().first)
    let rows = (section.components(separatedBy: "\n## ").first ?? "").split(separator: "\n")
    return rows.filter { $0.hasPrefix("| `") }.flatMap { row in
      row.split(separator: "|")[0].matches(of: /`([^`]+)`/).map { String($0.1) }
    }
  }

  @Test("HEALTH-1: every kind of event is on the page, and no other")
  func kinds() throws {
    let source = try text("Sources/Glasswing/Health/StreamHealthEvent.swift")
    let kinds = source.matches(of: /static let (\w+) = Kind\(rawValue: "(\w+)"\)/).map { ($0.1, String($0.2)) }
    #expect(kinds.count > 15)
    #expect(kinds.allSatisfy { $0.0 == $0.1 }, "the name in the code is the name in logs")
    let listed = try firstCells(of: "Events", in: try text("docs/health.md"))
    #expect(Set(listed) == Set(kinds.map(\.1)))
    #expect(listed.count == kinds.count)
  }

  @Test("HEALTH-1: every figure is on the page, and no other")
  func figures() throws {
    let source = try text("Sources/Glasswing/Health/StreamStatistics.swift")
    let structs = source.components(separatedBy: "public struct ")
    func fields(_ name: String) -> [String] {
      let body = structs.first { $0.hasPrefix(name) } ?? ""
      return body.matches(of: /public let (\w+):/).map { String($0.1) }
    }
    // What stands behind the two inner structs in the source belongs to the outer one.
    let inner = fields("Drops:")
    let stall = fields("Stall:").prefix(3)
    let outer = fields("Stall:").dropFirst(3).filter { $0 != "drops" && $0 != "audio" }
    let sound = try text("Sources/Glasswing/Health/AudioStatistics.swift")
      .matches(of: /public let (\w+):/).map { String($0.1) }
    #expect(sound.count == 13)
    #expect(inner.count == 6 && stall == ["startHostNanoseconds", "length", "isOver"] && outer.count > 15)
    let page = try text("docs/health.md")
    let listed = try firstCells(of: "Figures", in: page)
    #expect(Set(listed) == Set(outer + inner.map { "drops.\($0)" } + sound.map { "audio.\($0)" }))
    let status = try text("Sources/Glasswing/Health/AudioStatus.swift").matches(of: /public let (\w+):/)
      .map { String($0.1) }
    #expect(status.count == 6)
    for field in stall + fields("NegotiatedVideo:") + status { #expect(page.contains("`\(field)`")) }
  }

  @Test("HEALTH-1: every detail of an event is on the page")
  func details() throws {
    let source = try text("Sources/Glasswing/Health/StreamHealthEvent.swift")
    let details = source.matches(of: /public internal\(set\) var (\w+):/).map { String($0.1) }
    #expect(details.count == 12)
    let page = try text("docs/health.md")
    for detail in details + ["hostNanoseconds"] { #expect(page.contains("`\(detail)`"), "\(detail)") }
  }
}
