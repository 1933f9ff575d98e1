import Testing
import Units

@testable import LinkProtocol

/// Where a link's behaviour breaks, by what its sender sees.
@Suite("A link that breaks")
struct LinkBreakTests {
  /// Looks each 50 ms: what left since the one before, in kilobytes of pictures and of sound, and how long the oldest of
  /// each waits, in milliseconds.
  private struct Course: CustomTestStringConvertible {
    var what: String
    var left: [(video: Int, audio: Int)]
    var waits: [(video: Int, audio: Int)]
    /// Looks before the break; nil for none.
    var breaksAfter: Int?

    init(_ what: String, video: [Int], waits: [Int], breaksAfter: Int? = nil) {
      self.what = what
      left = video.map { ($0, 0) }
      self.waits = waits.map { ($0, 0) }
      self.breaksAfter = breaksAfter
    }

    init(_ what: String, audio: [Int], waits: [Int], breaksAfter: Int? = nil) {
      self.what = what
      left = audio.map { (0, $0) }
      self.waits = waits.map { (0, $0) }
      self.breaksAfter = breaksAfter
    }

    var testDescription: String { what }

    var looks: [VideoFlow] {
      var flow = VideoFlow(time: Instant(nanoseconds: 0))
      return zip(left, waits).map { left, waits in
        flow.time = flow.time + .milliseconds(50)
        flow.sentBytes += UInt64(left.video * 1000)
        flow.audioSentBytes += UInt64(left.audio * 1000)
        flow.waitingAge = .milliseconds(waits.video)
        flow.audioWaitingAge = .milliseconds(waits.audio)
        return flow
      }
    }
  }

  /// Of a link that is believed to carry 10 kB in 50 ms.
  private static let courses = [
    Course("all leaves at once", video: [10, 10, 10, 10, 10, 10], waits: [0, 0, 0, 0, 0, 0]),
    Course("half of it waits", video: [10, 10, 5, 5, 5, 5], waits: [0, 0, 50, 80, 110, 140], breaksAfter: 1),
    Course("half of it waits since less long", video: [10, 10, 10, 5, 5, 5], waits: [0, 0, 0, 50, 80, 110]),
    Course("what waits behind a sync unit", video: [10, 10, 10, 10, 10, 10], waits: [0, 50, 90, 130, 160, 200]),
    Course("the link stands still for a moment", video: [10, 10, 10, 0, 1, 5], waits: [0, 0, 50, 80, 110, 140]),
    Course("what waits gets younger", video: [10, 10, 5, 5, 5, 5], waits: [90, 90, 80, 70, 60, 55]),
    Course("it waits now and then", video: [10, 10, 5, 5, 5, 5], waits: [0, 0, 50, 90, 30, 80]),
    Course("a little less leaves", video: [10, 10, 8, 8, 8, 8], waits: [0, 0, 50, 80, 110, 140]),
    Course(
      "half of it waits, of sound", audio: [10, 10, 5, 5, 5, 5], waits: [0, 0, 50, 80, 110, 140], breaksAfter: 1),
    Course(
      "half waits, and did before", video: [10, 10, 10, 5, 5, 5, 5], waits: [50, 60, 60, 90, 120, 150, 180],
      breaksAfter: 2),
  ]

  @Test(
    "a link breaks where all the time more waits, and far less leaves, than it was believed to carry",
    arguments: courses)
  private func rule(course: Course) {
    let looks = course.looks
    #expect(looks.brokenSince(.kilobitsPerSecond(1600)) == course.breaksAfter)
    for count in 0..<looks.count - 1 {
      #expect(Array(looks.prefix(count)).brokenSince(.kilobitsPerSecond(1600)) == nil, "after \(count) looks")
    }
    // Of a link that was believed to carry so little, none of them says anything.
    #expect(looks.brokenSince(.kilobitsPerSecond(600)) == nil)
  }

  @Test("behind a break counts what left since, and what is encoded is half of that until nothing waits")
  func control() {
    var control = RateControl(start: .kilobitsPerSecond(1600), ceiling: .kilobitsPerSecond(1600))
    for look in Course("", video: [10, 10, 10, 10, 5, 5, 5, 5], waits: [0, 0, 0, 0, 50, 80, 110, 140]).looks {
      #expect(control.target == .kilobitsPerSecond(1600))
      _ = control.look(look)
    }
    let estimate = control.estimate.kilobitsPerSecond
    #expect(estimate > 670 && estimate < 690, "\(estimate)")
    #expect(control.target.kilobitsPerSecond == estimate / 2)
  }
}
