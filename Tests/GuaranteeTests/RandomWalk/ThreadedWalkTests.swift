import Foundation
import LinkProtocol
import LinkTransport
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// As the walks by hand, where everything happens at the same time.
@Suite(.exclusive(.mockKit))
struct ThreadedWalkTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seed = environment["GLASSWING_WALK_SEEDS"].flatMap { UInt64($0.prefix { $0 != "-" }) } ?? 1
  private static let seconds = environment["GLASSWING_WALK_SECONDS"].flatMap(Int.init) ?? 4
  private static let walkers = 6

  @Test("walkers on six threads at once break nothing, and nothing is left of them (LIFE-1, LIFE-2, LIFE-5)")
  func threads() async throws {
    // Files first: the programs that make them leave descriptors of Foundation's behind.
    let media = try WalkMedia.make()
    let before = ProcessResources.now()
    let coverage = Coverage()
    let timekeeper = SystemTimekeeper.shared
    let judge = WalkJudge(coverage: coverage, strictness: .threads, timekeeper: timekeeper)
    let world = World(seed: Self.seed, media: media, judge)
    world.enable(isRegistered: true)
    print("walk on threads: seeds \(Self.seed) to \(Self.seed + UInt64(Self.walkers) - 1), \(Self.seconds) s")
    let ended = Observed<UInt64>()
    let end = timekeeper.now + .seconds(Self.seconds)
    let walkers = (0..<Self.walkers).map { number in
      ThreadedWalker(world, seed: Self.seed + UInt64(number), until: end, ended: ended)
    }
    for walker in walkers { walker.begin() }
    // A walker that does not come back stands in a call that never returns.
    try await ended.wait("all walkers", within: .seconds(Self.seconds + 30)) { $0.count == Self.walkers }
    await world.awaits.check()
    world.letGo()
    await world.awaits.cancelAll()
    await MockDeviceKit.shared.disable()
    world.letGoOfGlasses()
    _ = await ProcessResources.settled(within: .seconds(20)) { _ in
      world.unfinished.isEmpty && world.leftOnGlasses.isEmpty && world.survivors.isEmpty
    }
    await world.check()
    judge.report(world.unfinished.map { "not at its end: \($0)" })
    judge.report(world.leftOnGlasses.map { "left on the glasses: \($0)" })
    judge.report(world.survivors.map { "still there: \($0)" })
    #expect(judge.findings.all == [])
    print("walk on threads came by: \(coverage.summary)")
    let after = await ProcessResources.settled { $0.holdsNoMoreOfStreams(than: before) }
    #expect(
      after.holdsNoMoreOfStreams(than: before),
      "before: \(before) \(before.descriptors); after: \(after) \(after.descriptors)")
  }
}
