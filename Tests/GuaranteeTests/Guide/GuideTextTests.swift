import Foundation
import Testing

/// What a guide prints as Swift is what the tests run.
struct GuideTextTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test(
    "DOC-1: every Swift block of a guide stands in the file that runs it",
    arguments: [
      ("docs/camera-streaming.md", "Tests/GuaranteeTests/Guide/CameraStreamingGuide.swift"),
      ("docs/audio-streaming.md", "Tests/GuaranteeTests/Guide/AudioStreamingGuide.swift"),
      ("docs/health.md", "Tests/GuaranteeTests/Guide/HealthGuide.swift"),
      ("docs/errors.md", "Tests/GuaranteeTests/Guide/HealthGuide.swift"),
    ])
  func blocksAreRun(page: String, source: String) throws {
    let text = try String(contentsOf: Self.root.appendingPathComponent(page), encoding: .utf8)
    let code = lines(try String(contentsOf: Self.root.appendingPathComponent(source), encoding: .utf8))
    let blocks = swiftBlocks(of: text)
    #expect(!blocks.isEmpty)
    for block in blocks {
      #expect(contains(code, block), "not run by \(source):\n\(block.joined(separator: "\n"))")
    }
  }

  private func swiftBlocks(of page: String) -> [[String]] {
    page.components(separatedBy: "```swift\n").dropFirst().compactMap { rest in
      rest.components(separatedBy: "```").first.map { lines($0) }
    }
  }

  /// Indentation and empty lines don't count.
  private func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }

  private func contains(_ code: [String], _ block: [String]) -> Bool {
    guard !block.isEmpty, code.count >= block.count else { return false }
    return (0...(code.count - block.count)).contains { Array(code[$0..<($0 + block.count)]) == block }
  }
}
