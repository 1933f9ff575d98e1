import Foundation
import Glasswing
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import Synchronization
import TestSupport
import Testing
import Units

/// How often frames come and what they show, on a clock moved by hand.
@Suite(.exclusive(.mockKit))
struct CadenceTests {
  private static let even: [RateFeed] = [
    RateFeed(1), RateFeed(10), RateFeed(24_000, over: 1001), RateFeed(25), RateFeed(30_000, over: 1001), RateFeed(50),
    RateFeed(60_000, over: 1001), RateFeed(120),
  ]
  private static let uneven: [RateFeed] = [
    RateFeed(12, .uneven), RateFeed(25, .uneven), RateFeed(25, .jittered), RateFeed(30, .jittered),
    RateFeed(50, .jittered),
  ]

  @Test(
    "PERF-1: of an even feed every rate is delivered within 3 %, no gap above two intervals, no picture twice, evenly",
    arguments: even, [2, 7, 15, 24, 30] as [UInt])
  func evenFeeds(feed: RateFeed, asked: UInt) async throws {
    let frames = try await frames(of: feed, asked: asked, seconds: min(feed.rate, Double(asked)) <= 2 ? 4 : 2.4)
    expectRate(of: frames, feed: feed, asked: asked)
    let steps = zip(frames, frames.dropFirst()).map { $1.number - $0.number }
    #expect((steps.max() ?? 0) - (steps.min() ?? 0) <= 1, "\(steps)")
  }

  @Test(
    "PERF-1: so it is when the feed's pictures come a quarter of an interval early or late, or by turns close and far",
    arguments: uneven, [7, 15, 24, 30] as [UInt])
  func unevenFeeds(feed: RateFeed, asked: UInt) async throws {
    expectRate(of: try await frames(of: feed, asked: asked, seconds: 3), feed: feed, asked: asked)
  }

  @Test(
    "PERF-1: a rate that the glasses don't have becomes the nearest that they have",
    arguments: [(1, 2), (5, 7), (10, 7), (12, 15), (19, 15), (20, 24), (27, 30), (28, 30), (60, 30), (1000, 30)])
  func snaps(asked: Int, delivered: UInt) async throws {
    let feed = RateFeed(60_000, over: 1001)
    let frames = try await frames(of: feed, asked: UInt(asked), seconds: delivered == 2 ? 4 : 2)
    expectRate(of: frames, feed: feed, asked: delivered)
  }

  @Test(
    "PERF-1: a link that delays each frame by up to a quarter of an interval changes neither their number nor their stamps",
    arguments: [VideoCodec.raw, .hvc1], [15, 24, 30] as [UInt])
  func arrivalJitter(codec: VideoCodec, asked: UInt) async throws {
    try await withGlassesByHand { glasses, clock in
      let interval: Duration = .seconds(1) / Int(asked)
      glasses.link.setLatency(.milliseconds(40), jitter: interval / 4)
      let session = try startedSession(with: glasses, clock)
      let stream = try #require(
        try session.addCamera(
          config: StreamConfiguration(videoCodec: codec, resolution: .low, frameRate: asked))
      ).stream
      let heard = Mutex<[(stamp: Double, arrived: Duration)]>([])
      let origin = clock.now
      let token = stream.videoFramePublisher.listen { frame in
        let stamp = CMTimeGetSeconds(CMSampleBufferGetPresentationTimeStamp(frame.sampleBuffer))
        heard.withLock { $0.append((stamp, clock.now - origin)) }
      }
      stream.start()
      for _ in 0..<10_000 where stream.state != .streaming {
        clock.advance(by: .microseconds(100))
        await Task.yield()
      }
      clock.advance(by: .seconds(20))
      let frames = heard.withLock { $0 }
      // The last one may be under way.
      #expect(abs(frames.count - 20 * Int(asked)) <= 2, "\(frames.count)")
      let gaps = zip(frames, frames.dropFirst()).map { ($1.arrived - $0.arrived).seconds }
      #expect(gaps.allSatisfy { $0 <= 2 * interval.seconds }, "\(gaps.max() ?? 0) s")
      #expect((gaps.max() ?? 0) - (gaps.min() ?? 0) > interval.seconds / 4, "the link did jitter")
      let spans = zip(frames, frames.dropFirst()).map { $1.stamp - $0.stamp }
      #expect(spans.allSatisfy { abs($0 - interval.seconds) < 0.002 }, "\(spans.min() ?? 0)…\(spans.max() ?? 0) s")
      #expect(stream.statistics.drops.total == 0)
      await token.cancel()
      session.stop()
    }
  }

  private struct Frame: Sendable {
    let stamp: Double
    /// What the picture shows.
    let number: Int
  }

  /// What a listener of decoded frames gets within so many seconds of the first.
  private func frames(of feed: RateFeed, asked: UInt, seconds: Double) async throws -> [Frame] {
    let heard = Mutex<[Frame?]>([])
    try await withGlassesByHand(feed: URL(fileURLWithPath: try feed.path()), encodesLive: true) { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let configuration = StreamConfiguration(videoCodec: .raw, resolution: .low, frameRate: asked)
      let stream = try #require(try session.addCamera(config: configuration)).stream
      let token = stream.videoFramePublisher.listen { frame in
        let number = shownNumber(frame)
        let stamp = CMTimeGetSeconds(CMSampleBufferGetPresentationTimeStamp(frame.sampleBuffer))
        heard.withLock { $0.append(number.map { Frame(stamp: stamp, number: $0) }) }
      }
      stream.start()
      for _ in 0..<10_000 where stream.state != .streaming {
        clock.advance(by: .microseconds(100))
        await Task.yield()
      }
      clock.advance(by: .seconds(seconds))
      #expect(stream.statistics.drops.total == 0)
      await token.cancel()
      session.stop()
    }
    let all = heard.withLock { $0 }
    let frames = all.compactMap { $0 }
    #expect(frames.count == all.count, "every picture shows its number")
    return frames
  }

  private func expectRate(of frames: [Frame], feed: RateFeed, asked: UInt) {
    let spans = zip(frames, frames.dropFirst()).map { $1.stamp - $0.stamp }
    let steps = zip(frames, frames.dropFirst()).map { $1.number - $0.number }
    let expected = min(feed.rate, Double(asked))
    // A span of whole frames of an uneven feed may begin or end on a long one: to the frame.
    let ideal = expected * spans.reduce(0, +)
    #expect(abs(Double(spans.count) - ideal) <= max(1, 0.03 * ideal), "\(spans.count) frames, not \(ideal)")
    #expect(spans.count >= 3)
    #expect(spans.allSatisfy { $0 > 0 && $0 <= 2 / expected + 0.0005 }, "\(spans.max() ?? 0) s")
    #expect(steps.allSatisfy { $0 > 0 }, "no picture twice, and none before an older one: \(steps)")
    if feed.rate <= Double(asked) { #expect(steps.allSatisfy { $0 == 1 }, "none left out: \(steps)") }
    // A stamp is its picture's own time.
    if feed.spacing == .even {
      let offsets = frames.map { $0.stamp - Double($0.number) / feed.rate }
      #expect((offsets.max() ?? 0) - (offsets.min() ?? 0) < 0.002)
    }
  }
}

/// What a decoded frame of a `RateFeed` shows.
private func shownNumber(_ frame: VideoFrame) -> Int? {
  guard let pixels = CMSampleBufferGetImageBuffer(frame.sampleBuffer) else { return nil }
  CVPixelBufferLockBaseAddress(pixels, .readOnly)
  defer { CVPixelBufferUnlockBaseAddress(pixels, .readOnly) }
  guard let base = CVPixelBufferGetBaseAddressOfPlane(pixels, 0) else { return nil }
  let row = base + CVPixelBufferGetHeight(pixels) / 2 * CVPixelBufferGetBytesPerRowOfPlane(pixels, 0)
  let luma = row.assumingMemoryBound(to: UInt8.self)
  return RateFeed.number(width: CVPixelBufferGetWidth(pixels)) { luma[$0] }
}
