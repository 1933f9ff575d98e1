import Testing
import Units

@testable import GlassesAgent

/// What a feed showed when.
@Suite("The clock of a feed")
struct FeedClockTests {
  private let start = Instant(nanoseconds: 5_000_000_000)
  private let film = FeedDescription.file(path: "film.mp4")

  private func at(_ milliseconds: Int64) -> Instant { start + .milliseconds(milliseconds) }

  /// From where to where, of what, from which time of the feed on; in milliseconds.
  private func pieces(_ clock: FeedClock, _ from: Int64, _ to: Int64) -> [String] {
    clock.stretches(from: at(from), to: at(to)).map { piece in
      let feed = piece.feed == nil ? "-" : piece.feed == .pattern ? "pattern" : "film"
      return "\(feed) \((piece.from - start).milliseconds) \(piece.time.milliseconds)"
    }
  }

  @Test("a feed's time runs from its opening on, and before it nothing is shown")
  func opening() {
    let clock = FeedClock()
    #expect(pieces(clock, 0, 20) == ["- 0.0 0.0"])
    _ = clock.begin(.pattern, at: at(10))
    #expect(pieces(clock, 0, 20) == ["- 0.0 0.0", "pattern 10.0 0.0"])
    #expect(pieces(clock, 1000, 1020) == ["pattern 1000.0 990.0"])
    #expect(pieces(clock, 20, 20) == [])
  }

  @Test("a round's end is followed within a stretch, as often as it comes")
  func rounds() {
    let clock = FeedClock()
    let opening = clock.begin(film, at: start)
    clock.move(opening, to: .milliseconds(40), at: at(40), cycle: .milliseconds(100))
    #expect(pieces(clock, 90, 310) == ["film 90.0 90.0", "film 100.0 0.0", "film 200.0 0.0", "film 300.0 0.0"])
    // What is as it was to be is no news.
    clock.move(opening, to: .milliseconds(60), at: at(260), cycle: .milliseconds(100))
    #expect(pieces(clock, 250, 290) == ["film 250.0 50.0"])
  }

  @Test("a jump holds from its moment on, and what came before stays as it was")
  func jump() {
    let clock = FeedClock()
    let opening = clock.begin(film, at: start)
    clock.move(opening, to: .milliseconds(700), at: at(130), cycle: nil)
    #expect(pieces(clock, 120, 140) == ["film 120.0 120.0", "film 130.0 700.0"])
    clock.move(opening, to: .milliseconds(500), at: at(135), cycle: .milliseconds(510))
    #expect(pieces(clock, 120, 150) == ["film 120.0 120.0", "film 130.0 700.0", "film 135.0 500.0", "film 145.0 0.0"])
  }

  @Test("between two feeds nothing is shown, and what the producer of the first still says is not heard")
  func change() {
    let clock = FeedClock()
    let first = clock.begin(film, at: start)
    clock.end(at: at(50))
    clock.move(first, to: .zero, at: at(55), cycle: nil)
    let second = clock.begin(.pattern, at: at(60))
    clock.move(first, to: .seconds(9), at: at(61), cycle: .seconds(10))
    clock.move(second, to: .milliseconds(5), at: at(65), cycle: nil)
    #expect(pieces(clock, 40, 80) == ["film 40.0 40.0", "- 50.0 0.0", "pattern 60.0 0.0"])
    clock.end(at: at(70))
    clock.end(at: at(75))
    #expect(pieces(clock, 68, 80) == ["pattern 68.0 8.0", "- 70.0 0.0"])
  }

  @Test("whoever waits for the first feed is told once, with its moment; at once when it has begun")
  func begun() {
    let clock = FeedClock()
    let told = Recorded<Instant>()
    clock.whenBegun { told.add($0) }
    #expect(told.values.isEmpty)
    _ = clock.begin(film, at: at(7))
    _ = clock.begin(.pattern, at: at(9))
    #expect(told.values == [at(7)])
    clock.whenBegun { told.add($0) }
    #expect(told.values == [at(7), at(7)])
  }

  @Test("a producer that jumps all the time, and a round of no length, cost little and end")
  func bounded() {
    let clock = FeedClock()
    let opening = clock.begin(film, at: start)
    for index in 0..<100_000 as Range<Int64> {
      clock.move(opening, to: .milliseconds(index % 7), at: start + .microseconds(index), cycle: .nanoseconds(1))
    }
    #expect(clock.stretches(from: start, to: at(101)).count <= 1100)
    #expect(clock.stretches(from: at(200), to: at(220)).count <= 4)
  }
}
