import LinkTransport
import Testing
import Units

/// Tests of one process that use the same global thing take turns, whatever suite or target they are in.
///
///     @Test(.exclusive(.mockKit)) func …
///
/// `.serialized` orders the tests of one suite only; `MockDeviceKit.shared` belongs to the process.
///
/// A test that has its turn is cancelled after `limit`. (Testing's own `.timeLimit` would count the waiting too.)
package struct ExclusiveTrait: TestTrait, SuiteTrait, TestScoping {
  package enum Resource: Hashable, Sendable {
    /// `MockDeviceKit.shared` and `Wearables`; and threads and descriptors of links, which leak checks count.
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
    let outcome = await runWithinLimit(function)
    await Turns.shared.giveBack(resource)
    try outcome.get()
  }

  private func runWithinLimit(_ function: @Sendable () async throws -> Void) async -> Result<Void, any Error> {
    let timekeeper = SystemTimekeeper.shared
    let lane = timekeeper.makeLane("test limit")
    defer { lane.end() }
    return await withoutActuallyEscaping(function) { function in
      let task = Task { try await function() }
      lane.run(at: timekeeper.now + Self.limit) {
        Issue.record("The test did not end within \(Self.limit)")
        task.cancel()
      }
      return await withTaskCancellationHandler {
        await task.result
      } onCancel: {
        task.cancel()
      }
    }
  }

  private static let limit: Duration = ThreadSanitizer.isOn ? .seconds(1800) : .seconds(400)
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
