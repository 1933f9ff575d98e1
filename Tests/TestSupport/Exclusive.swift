import Testing

/// Tests of one process that use the same global thing take turns, whatever suite or target they are in.
///
///     @Test(.exclusive(.mockKit)) func …
///
/// `.serialized` orders the tests of one suite only; `MockDeviceKit.shared` belongs to the process.
package struct ExclusiveTrait: TestTrait, SuiteTrait, TestScoping {
  package enum Resource: Hashable, Sendable {
    /// `MockDeviceKit.shared` and `Wearables`.
    case mockKit
    /// The processor, where a test compares delivered rates with real time.
    case processor
  }

  let resource: Resource

  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    // A suite's own scope has no test case; its tests take the turn one by one.
    guard testCase != nil else { return try await function() }
    await Turns.shared.take(resource)
    do {
      try await function()
    } catch {
      await Turns.shared.giveBack(resource)
      throw error
    }
    await Turns.shared.giveBack(resource)
  }
}

extension Trait where Self == ExclusiveTrait {
  package static func exclusive(_ resource: ExclusiveTrait.Resource) -> Self { ExclusiveTrait(resource: resource) }
}

private actor Turns {
  static let shared = Turns()

  private var taken: Set<ExclusiveTrait.Resource> = []
  private var waiting: [ExclusiveTrait.Resource: [CheckedContinuation<Void, Never>]] = [:]

  func take(_ resource: ExclusiveTrait.Resource) async {
    if taken.insert(resource).inserted { return }
    await withCheckedContinuation { waiting[resource, default: []].append($0) }
  }

  func giveBack(_ resource: ExclusiveTrait.Resource) {
    // The next in line inherits the turn; only an empty line frees it.
    if waiting[resource]?.isEmpty == false {
      waiting[resource]?.removeFirst().resume()
    } else {
      taken.remove(resource)
    }
  }
}
