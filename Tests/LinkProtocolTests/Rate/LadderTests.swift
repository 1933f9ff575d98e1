import Testing
import Units

@testable import LinkProtocol

struct LadderTests {
  private var ladder = RateBench.ladder
  private var now = Instant(nanoseconds: 0)
  private var steps: [Ladder.Step] = []

  /// Looks 20 times a second.
  private mutating func hold(_ rate: Int64, for duration: Duration) {
    let end = now + duration
    while now < end {
      if let step = ladder.look(.kilobitsPerSecond(rate), overflowed: false, at: now) { steps.append(step) }
      now = now + .milliseconds(50)
    }
  }

  private var index: Int {
    RateBench.ladder.rungsForTests.firstIndex(of: ladder.rung) ?? -1
  }

  @Test("what suffices stays, however long")
  mutating func stays() {
    hold(760, for: .seconds(120))
    #expect(steps.isEmpty)
  }

  @Test("a rate too low for a while steps down, size before frame rate, as far as it must at once")
  mutating func down() {
    hold(630, for: .milliseconds(1_450))
    #expect(steps.isEmpty)
    hold(630, for: .milliseconds(100))
    #expect(index == 1 && steps.first?.reason == .linkNarrowed)
    hold(360, for: .seconds(9))
    #expect(index == 2 && ladder.rung.video.frameRate == 24)
    hold(100, for: .seconds(20))
    #expect(index == 3 && ladder.rung.video.frameRate == 15)
    var other = RateBench.ladder
    #expect(other.look(.kilobitsPerSecond(300), overflowed: false, at: now) == nil)
    #expect(other.look(.kilobitsPerSecond(300), overflowed: false, at: now + .milliseconds(1_500))?.to == ladder.rung)
  }

  @Test("a rate no lower than a decrease makes it of what suffices is borne for longer, unless the queue runs over")
  mutating func nearlyEnough() {
    var other = ladder
    #expect(other.look(.kilobitsPerSecond(640), overflowed: true, at: now) != nil)
    hold(640, for: .milliseconds(7_950))
    #expect(steps.isEmpty)
    hold(640, for: .milliseconds(100))
    #expect(index == 1)
  }

  @Test("a moment that is too low is waited out")
  mutating func waits() {
    for _ in 0..<20 {
      hold(300, for: .milliseconds(1_400))
      hold(800, for: .milliseconds(200))
    }
    #expect(steps.isEmpty)
  }

  @Test("an overflow ends the wait, but is no reason by itself")
  mutating func overflow() {
    #expect(ladder.look(.kilobitsPerSecond(1200), overflowed: true, at: now) == nil)
    #expect(ladder.look(.kilobitsPerSecond(420), overflowed: true, at: now)?.to.video.size == RateBench.low)
  }

  @Test("enough for long enough steps up, one rung at a time and never above what was asked")
  mutating func up() {
    hold(100, for: .seconds(2))
    #expect(index == 3)
    hold(1400, for: .milliseconds(4_900))
    #expect(steps.count == 1)
    hold(1400, for: .milliseconds(200))
    #expect(index == 2 && steps.last?.reason == .linkWidened)
    hold(1400, for: .seconds(60))
    #expect(index == 0 && steps.count == 4)
    #expect(ladder.ceiling == .kilobitsPerSecond(1500))
  }

  @Test("a step up that fails is tried again later and later")
  mutating func backsOff() {
    var tries: [Double] = []
    hold(500, for: .seconds(2))
    while now.nanoseconds < 200_000_000_000 {
      let before = steps.count
      hold(980, for: .milliseconds(50))
      guard steps.count > before else { continue }
      tries.append(Double(now.nanoseconds) / 1e9)
      hold(500, for: .milliseconds(1_600))
      #expect(index == 1)
    }
    let waits = zip(tries, tries.dropFirst()).map { $1 - $0 }
    #expect(waits.count >= 3 && waits[0] > 15 && waits[1] > 45 && waits[2] > 60, "\(waits)")
    // One that holds makes the next failure a first one.
    hold(980, for: .seconds(100))
    #expect(index == 0)
    hold(500, for: .seconds(2))
    let down = now
    while index == 1 { hold(980, for: .milliseconds(50)) }
    #expect(now - down < .milliseconds(5_200))
  }

  @Test("below the top the encoder may show that the next rung can be carried, at the top just its own rate")
  func ceiling() {
    var ladder = RateBench.ladder
    #expect(ladder.ceiling == .kilobitsPerSecond(1500))
    _ = ladder.look(.kilobitsPerSecond(500), overflowed: true, at: now)
    #expect(ladder.ceiling > ladder.rung.bitrate && ladder.ceiling < .kilobitsPerSecond(1500))
  }
}

extension Ladder {
  fileprivate var rungsForTests: [Rung] {
    var ladder = self
    var rungs = [rung]
    for rate: Int64 in [420, 360, 100] {
      if let step = ladder.look(.kilobitsPerSecond(rate), overflowed: true, at: Instant(nanoseconds: 0)) {
        rungs.append(step.to)
      }
    }
    return rungs
  }
}
