import Foundation
import LinkProtocol
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// A walk under a clock that is moved by hand: the same steps give the same events.
enum WalkByHand {
  /// What was wrong, if anything.
  static func run(seed: UInt64, _ steps: [Step], media: WalkMedia, coverage: Coverage = Coverage()) async -> [String] {
    let clock = ManualTimekeeper()
    let judge = WalkJudge(coverage: coverage, strictness: .byHand, timekeeper: clock)
    let world = World(seed: seed, media: media, judge)
    world.enable(isRegistered: true)
    for step in steps {
      switch step {
      case .time(let duration): await move(clock, by: duration, world)
      default: world.perform(step)
      }
      if !judge.findings.all.isEmpty { break }
    }
    await end(world, clock, seed: seed)
    return judge.findings.all
  }

  /// In pieces, so that a silence is noticed while it lasts.
  private static func move(_ clock: ManualTimekeeper, by duration: Duration, _ world: World) async {
    var rest = duration
    repeat {
      let piece = min(rest, .milliseconds(250))
      clock.advance(by: piece)
      await world.check()
      rest -= piece
    } while rest > .zero
  }

  /// Either the glasses leave first or the app does; nothing may be left in both cases.
  private static func end(_ world: World, _ clock: ManualTimekeeper, seed: UInt64) async {
    if seed % 2 == 0 {
      world.disable(waits: false)
      await move(clock, by: .seconds(2), world)
      world.letGo()
      await move(clock, by: .seconds(1), world)
    } else {
      world.letGo()
      // A link that has gone quiet is given up after its patience.
      await move(clock, by: .seconds(15), world)
      world.judge.report(world.leftOnGlasses.map { "left on the glasses: \($0)" })
      world.disable(waits: false)
    }
    // What is still under way had time enough; sequences that never end by themselves are given up.
    clock.advance(by: .seconds(40))
    await world.awaits.check()
    await world.awaits.cancelAll()
    world.letGoOfGlasses()
    await world.check()
    world.judge.report(world.unfinished.map { "not at its end: \($0)" })
    world.judge.report(world.leftOnGlasses.map { "left on the glasses: \($0)" })
    if !world.survivors.isEmpty {
      // Tasks that have ended let go of what they held on threads of the language's own.
      _ = await ProcessResources.settled { _ in world.survivors.isEmpty }
    }
    world.judge.report(world.survivors.map { "still there: \($0)" })
  }
}

extension WalkByHand {
  /// The walk without the steps that it goes wrong without, too. Parts are left out, halves first, single steps last.
  static func shortened(seed: UInt64, _ steps: [Step], media: WalkMedia) async -> [Step] {
    var kept = steps
    var length = max(1, kept.count / 2)
    while true {
      var start = 0
      while start < kept.count {
        var candidate = kept
        candidate.removeSubrange(start..<min(start + length, kept.count))
        if await run(seed: seed, candidate, media: media).isEmpty { start += length } else { kept = candidate }
      }
      guard length > 1 else { return kept }
      length /= 2
    }
  }
}
