import Foundation
import Glasswing
import MWDATCore
import Testing

/// How an app meets an error of the interface, or why it can't.
enum Meeting: Sendable {
  /// What an app did, or what was done to its glasses; the errors that calls threw and that the objects' own channels
  /// announced.
  case provoked(@Sendable () async throws -> [ErrorFacts])
  /// `Wearables.configure()` throws it for an Info.plist with this text. Only the first call of a process that succeeds
  /// counts, so it is met in a process of its own.
  case configuring(String)
  /// Nothing an app or its glasses can do brings it about here.
  case never(String)
}

/// One error of the interface by the name that its facts have.
struct ErrorEntry: Sendable, CustomTestStringConvertible {
  let name: String
  let meeting: Meeting

  init(_ name: String, _ meeting: Meeting) {
    self.name = name
    self.meeting = meeting
  }

  /// Provoked.
  init(_ name: String, _ provoke: @escaping @Sendable () async throws -> [ErrorFacts]) {
    self.init(name, .provoked(provoke))
  }

  var testDescription: String { name }

  var isProvoked: Bool { if case .provoked = meeting { true } else { false } }

  static let all: [ErrorEntry] = wearables + permissions + sessions + streams + photos + kit
}

/// Each error of the interface, where it is met.
@Suite(.exclusive(.mockKit))
struct EveryErrorTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The interface's own have codes below 1000; the mock kit's are the one type beyond.
  @Test("ERR-1: each error of the interface is provoked through it, or has a reason why it can't be")
  func complete() throws {
    let page = try String(contentsOf: Self.root.appendingPathComponent("docs/errors.md"), encoding: .utf8)
    let rows = page.matches(of: /\n\| `(\w+\.\w+)` \| (\d+) \|/).map { (name: "\($0.1)", code: Int($0.2) ?? 0) }
    let listed = rows.filter { $0.code < 1000 || $0.name.hasPrefix("mockDeviceKit.") }.map(\.name)
    #expect(listed.count == 72)
    #expect(ErrorEntry.all.map(\.name).sorted() == listed.sorted())
    for entry in ErrorEntry.all {
      if case .never(let reason) = entry.meeting { #expect(!reason.isEmpty) }
    }
  }

  @Test(
    "ERR-1: what fails is on the channel of its object, once, or thrown by the call, by the error for its cause",
    arguments: ErrorEntry.all.filter(\.isProvoked))
  func provoked(_ entry: ErrorEntry) async throws {
    guard case .provoked(let provoke) = entry.meeting else { return }
    let met = try await provoke()
    #expect(met.filter { $0.name == entry.name }.count == 1, "\(met.map(\.name))")
  }

  // Exit tests came with Swift 6.2.
  #if compiler(>=6.2)
    @Test("ERR-1: configure() throws the error for what is wrong with the app's Info.plist")
    func configuring() async {
      await #expect(processExitsWith: .success) {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).plist")
        defer { try? FileManager.default.removeItem(at: file) }
        setenv("GLASSWING_INFO_PLIST", file.path, 1)
        var count = 0
        for entry in ErrorEntry.all {
          guard case .configuring(let text) = entry.meeting else { continue }
          try Data(text.utf8).write(to: file)
          let thrown = await errors { try Wearables.configure() }
          #expect(thrown.map(\.name) == [entry.name])
          count += 1
        }
        #expect(count == 6)
      }
    }
  #endif
}

/// The facts of what a call throws.
func errors(_ call: () async throws -> Void) async -> [ErrorFacts] {
  do {
    try await call()
    return []
  } catch {
    return [facts(of: error)].compactMap { $0 }
  }
}
