import Foundation
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// How often frames come, on a clock moved by hand.
@Suite(.exclusive(.mockKit))
struct CadenceTests {
  /// A feed and its own rate.
  enum Feed: CaseIterable {
    case pattern, twentyFive, sixty, uneven

    var kind: MediaFactory.Kind? {
      switch self {
      case .pattern: nil
      case .twentyFive: .h264
      case .sixty: .sixtyFrames
      case .uneven: .variableRate
      }
    }

    /// Pictures a second, and the longest time that one of them lasts beside the mean.
    var rate: Double {
      switch self {
      case .pattern: 30
      case .twentyFive: 25
      case .sixty: 60
      case .uneven: 20 / 1.52  // 20 pictures of 1/25 and 3/25 s, the last one short
      }
    }

    var longest: Double { self == .uneven ? 3.0 / 25 : 1 / rate }
  }

  @Test(
    "PERF-1: frames come at the lesser of the feed's and the asked rate, within 3 %, no gap above two intervals",
    arguments: Feed.allCases, [7, 15, 24, 30] as [UInt])
  func rate(feed: Feed, asked: UInt) async throws {
    let file = try feed.kind.map { URL(fileURLWithPath: try MediaFactory.path($0)) }
    try await withGlassesByHand(feed: file, encodesLive: true) { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: asked)
      let watched = try await startedStream(in: session, configuration, clock)
      clock.advance(by: .seconds(4))
      let stamps = watched.frames.values.map { CMTimeGetSeconds($0.presentation) }
      let spans = zip(stamps, stamps.dropFirst()).map { $1 - $0 }
      let expected = min(feed.rate, Double(asked))
      // What is asked of the whole length is asked of it to the frame: a feed of uneven pictures may end on a long one.
      let ideal = expected * spans.reduce(0, +)
      #expect(abs(Double(spans.count) - ideal) <= max(1, 0.03 * ideal), "\(spans.count) frames, not \(ideal)")
      let allowed = 2 * max(1 / expected, feed.longest)
      #expect(spans.allSatisfy { $0 > 0 && $0 <= allowed + 0.0005 }, "\(spans.max() ?? 0) s")
      session.stop()
    }
  }
}
