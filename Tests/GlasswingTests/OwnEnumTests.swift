import Foundation
import Glasswing
import GlasswingTesting
import Testing

/// The enums of our own modules, held together: each is stored, compared and printed by its case's name.
@Suite("ERR-4: enums of Glasswing and GlasswingTesting")
struct OwnEnumTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// What the compiler has to agree to.
  private func check<T: Hashable & Codable & Sendable>(_ values: [T], names: [String]) throws -> String {
    #expect(values.count == names.count)
    #expect(Set(values).count == values.count)
    for (value, name) in zip(values, names) {
      #expect("\(value)".prefix { $0 != "(" } == name)
      let stored = try JSONEncoder().encode([value])
      #expect(try JSONDecoder().decode([T].self, from: stored) == [value])
    }
    return "\(T.self)"
  }

  private func check<T: CaseIterable & RawRepresentable & Hashable & Codable & Sendable>(_: T.Type) throws -> String
  where T.RawValue == String {
    let values = Array(T.allCases)
    return try check(values, names: values.map(\.rawValue))
  }

  @Test("print their case's name and are Hashable, Sendable and Codable, all of them")
  func all() throws {
    var checked: Set<String> = []
    checked.insert(try check(ErrorStage.self))
    checked.insert(try check(ErrorSeverity.self))
    checked.insert(try check(ErrorAdvice.self))
    checked.insert(try check(Readiness.Step.self))
    checked.insert(try check(Readiness.Status.self))
    checked.insert(try check(RecordingContainer.self))
    checked.insert(try check(RecordingAudio.self))
    checked.insert(try check(AudioStatus.Codec.self))
    checked.insert(try check(AudioStatus.Source.self))
    checked.insert(try check(PauseReason.self))
    checked.insert(try check(PhotoDetails.Format.self))
    for error in EveryError.glasswing { checked.insert(try checkErased(error)) }
    let declared = try declared()
    #expect(declared.subtracting(checked) == [], "not looked at")
    #expect(checked.subtracting(declared) == [], "not there")
  }

  private func checkErased(_ error: some GlasswingError) throws -> String {
    try check([error], names: [String(error.name.split(separator: ".")[1])])
  }

  /// The public enums in the sources.
  private func declared() throws -> Set<String> {
    var names: Set<String> = []
    for module in ["Glasswing", "GlasswingTesting"] {
      let folder = Self.root.appendingPathComponent("Sources/\(module)")
      for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift") {
        let source = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
        for match in source.matches(of: /\bpublic (?:indirect )?enum (\w+)/) { names.insert(String(match.1)) }
      }
    }
    return names
  }
}
