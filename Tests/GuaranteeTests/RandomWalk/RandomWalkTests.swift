import Foundation
import TestSupport
import Testing

/// All that an app, a wearer and a bad day can do, in any order, on a clock that is moved by hand.
///
/// Each walk is decided by its seed. One that goes wrong is printed with its seed and cut down to the steps that it takes;
/// put those into `WalkRegressions` with the mend. More walks by hand:
///
///     GLASSWING_WALK_SEEDS=1-5000 GLASSWING_WALK_STEPS=300 swift test --filter RandomWalkTests
///
/// `GLASSWING_WALK_TRACE=1` says on standard error which seed is walked, for walks that end the process.
@Suite(.exclusive(.mockKit))
struct RandomWalkTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seeds = environment["GLASSWING_WALK_SEEDS"].flatMap(Self.range) ?? 1...40
  private static let steps = environment["GLASSWING_WALK_STEPS"].flatMap(Int.init) ?? 200

  /// "7", or "1-1000".
  private static func range(_ text: String) -> ClosedRange<UInt64>? {
    let bounds = text.split(separator: "-").compactMap { UInt64($0) }
    guard let first = bounds.first, let last = bounds.last, first <= last else { return nil }
    return first...last
  }

  @Test(
    "any order of calls and hardware keeps every rule and leaves nothing, on good days and bad (LIFE-1, LIFE-2, LIFE-5)",
    arguments: [StepChoice.Kinds.clock, .all])
  func byHand(kinds: StepChoice.Kinds) async throws {
    let media = try WalkMedia.make()
    let what = "random walk \(kinds.contains(.faults) ? "with" : "without") faults"
    print("\(what): seeds \(Self.seeds.lowerBound) to \(Self.seeds.upperBound), \(Self.steps) steps each")
    let coverage = Coverage()
    for seed in Self.seeds {
      if Self.environment["GLASSWING_WALK_TRACE"] != nil { FileHandle.standardError.write(Data("seed \(seed)\n".utf8)) }
      let steps = StepChoice.steps(seed: seed, count: Self.steps, choosing: kinds)
      let wrong = await WalkByHand.run(seed: seed, steps, media: media, coverage: coverage)
      guard !wrong.isEmpty else { continue }
      let short = await WalkByHand.shortened(seed: seed, steps, media: media)
      Issue.record(
        """
        seed \(seed), \(Self.steps) steps: \(wrong.joined(separator: "; "))
        the shortest walk found that goes wrong too:
        \(short.map { "  \($0.written)," }.joined(separator: "\n"))
        """)
    }
    print("\(what) came by: \(coverage.summary)")
    // Else the walks have become too short, or too wild to get anywhere.
    guard Self.seeds.count >= 40 else { return }
    for event in Self.expected { #expect(coverage.count(event) > 0, "no walk came by: \(event)") }
  }

  private static let expected = [
    "session paused", "stream paused", "stream streaming", "photo started", "photo of a stream", "sound",
  ]

  @Test("LIFE-2, LIFE-5: walks that once went wrong go right", arguments: WalkRegressions.all.indices)
  func regressions(index: Int) async throws {
    let walk = WalkRegressions.all[index]
    let wrong = await WalkByHand.run(seed: walk.seed, walk.steps, media: try WalkMedia.make())
    #expect(wrong == [], "\(walk.why)")
  }

  @Test("the same seed gives the same walk, event by event", arguments: [3, 4] as [UInt64])
  func repeatable(seed: UInt64) async throws {
    let media = try WalkMedia.make()
    let steps = StepChoice.steps(seed: seed, count: Self.steps, choosing: .all)
    let coverages = [Coverage(keepsLog: true), Coverage(keepsLog: true)]
    for coverage in coverages { _ = await WalkByHand.run(seed: seed, steps, media: media, coverage: coverage) }
    #expect(!coverages[0].log.isEmpty)
    #expect(coverages[0].log == coverages[1].log)
  }
}
