import Glibc
import LinkTransport
import TestSupport
import Testing
import Units

@testable import GlassesAgent

@Suite("Raw pictures that were waiting")
struct RawBacklogTests {
  @Test("What a live writer had waiting when the reader came is gone through at once, and makes no later picture late")
  func backlog() async throws {
    let format = try #require(RawFormat(size: PixelSize(width: 16, height: 16), frameRate: 10))
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let picture = [UInt8](repeating: 90, count: format.byteCount)
    for _ in 0..<9 { #expect(write(ends[1], picture, picture.count) == picture.count) }
    let reader = RawReader(format, from: ends[0], name: "a pipe", timekeeper: SystemTimekeeper.shared)
    let captured = Observed<Instant>()
    let number = reader.feed.observe { news in
      if case .picture(let picture) = news { captured.record(picture.captured) }
    }
    reader.start()
    try await captured.wait("all of them") { $0.count == 9 }
    reader.stop()
    reader.feed.stopObserving(number)
    let times = captured.values
    // At the stated rate they would take 0.8 s.
    #expect(times[8] - times[0] < .milliseconds(500))
  }
}
