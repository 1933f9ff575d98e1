import Foundation
import Glasswing
import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// What of a feed's pictures reaches an app: upright, whole, in their order; and what of a feed that can't be played.
@Suite(.exclusive(.mockKit))
struct FeedContentTests {
  /// A delivered picture's luma, and what tells it from others.
  private struct Picture: Sendable {
    let width: Int
    let height: Int
    let presentation: Double
    let luma: [UInt8]

    init?(_ frame: VideoFrame) {
      guard let buffer = CMSampleBufferGetImageBuffer(frame.sampleBuffer) else { return nil }
      width = CVPixelBufferGetWidth(buffer)
      height = CVPixelBufferGetHeight(buffer)
      presentation = CMTimeGetSeconds(CMSampleBufferGetPresentationTimeStamp(frame.sampleBuffer))
      CVPixelBufferLockBaseAddress(buffer, .readOnly)
      defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
      guard let base = CVPixelBufferGetBaseAddressOfPlane(buffer, 0) else { return nil }
      let bytesPerRow = CVPixelBufferGetBytesPerRowOfPlane(buffer, 0)
      var luma: [UInt8] = []
      luma.reserveCapacity(width * height)
      for y in 0..<height {
        luma.append(contentsOf: UnsafeRawBufferPointer(start: base + y * bytesPerRow, count: width))
      }
      self.luma = luma
    }

    func luma(_ x: Int, _ y: Int) -> Int { Int(luma[y * width + x]) }

    /// The luma in the middle of each quarter of the part that shows a feed of this shape: upper left, upper right,
    /// lower left, lower right.
    func quarters(ofFeed feedWidth: Int, _ feedHeight: Int) -> [Int] {
      let scale = min(Double(width) / Double(feedWidth), Double(height) / Double(feedHeight))
      let (shownWidth, shownHeight) = (Double(feedWidth) * scale, Double(feedHeight) * scale)
      return [(-1.0, -1.0), (1, -1), (-1, 1), (1, 1)].map { x, y in
        luma(
          Int(Double(width) / 2 + x * shownWidth / 4), Int(Double(height) / 2 + y * shownHeight / 4))
      }
    }
  }

  /// The pictures of so much of a stream of the feed, decoded.
  private func pictures(
    of feed: MediaFactory.Kind, rate: UInt = 30, for duration: Duration = .milliseconds(500)
  ) async throws -> [Picture] {
    let seen = Observed<Picture>()
    try await withGlassesByHand(feed: URL(fileURLWithPath: try MediaFactory.path(feed)), encodesLive: true) {
      glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let configuration = StreamConfiguration(videoCodec: .raw, resolution: .low, frameRate: rate)
      let stream = try #require(try session.addCamera(config: configuration)).stream
      let token = stream.videoFramePublisher.listen { frame in
        if let picture = Picture(frame) { seen.record(picture) }
      }
      stream.start()
      for _ in 0..<10_000 where stream.state != .streaming {
        clock.advance(by: .microseconds(100))
        await Task.yield()
      }
      #expect(stream.state == .streaming)
      clock.advance(by: duration)
      await token.cancel()
    }
    return seen.values
  }

  private static let cornered: [(MediaFactory.Kind, width: Int, height: Int, whiteQuarter: Int)] = [
    (.fullRange, 160, 120, 0), (.rotated90, 120, 160, 1), (.rotated180, 160, 120, 3), (.rotated270, 120, 160, 2),
    (.oddSize, 161, 121, 0), (.widePixels, 320, 120, 0), (.tenBit, 160, 120, 0), (.tenBitH264, 160, 120, 0),
    (.fourTwoTwo, 160, 120, 0), (.grey, 160, 120, 0), (.tiny, 16, 16, 0), (.wide, 1920, 1080, 0),
    (.tall, 62, 1022, 0), (.onePicture, 160, 120, 0),
  ]

  @Test(
    "MOCK-1: pictures of any size, turn, pixel shape and format are delivered upright and whole", arguments: cornered)
  func upright(kind: MediaFactory.Kind, width: Int, height: Int, whiteQuarter: Int) async throws {
    let pictures = try await pictures(of: kind)
    #expect(pictures.count > 5)
    for picture in pictures {
      try #require(picture.width == 360 && picture.height == 640)
      for (index, luma) in picture.quarters(ofFeed: width, height).enumerated() {
        #expect(index == whiteQuarter ? luma > 215 : luma < 40, "quarter \(index) of \(kind): \(luma)")
      }
      // What the feed leaves free is black.
      if width * 640 > height * 360 { #expect(picture.luma(180, 2) < 24 && picture.luma(180, 637) < 24) }
      if width * 640 < height * 360 { #expect(picture.luma(2, 320) < 24 && picture.luma(357, 320) < 24) }
    }
  }

  @Test(
    "MOCK-1: pictures come in the feed's order, each as long as the feed says, and begin anew after the last",
    arguments: [
      (MediaFactory.Kind.h264, 25), (.hevc, 25), (.bFrames, 50), (.hevcBFrames, 50), (.vp9, 25), (.transportStream, 25),
      (.lateVideo, 25),
    ])
  func order(kind: MediaFactory.Kind, count: Int) async throws {
    let pictures = try await pictures(of: kind, for: .milliseconds(40 * (2 * count + 10)))
    #expect(pictures.count >= 2 * count + 5)
    for (index, picture) in pictures.enumerated() {
      let expected = MediaFactory.luma(ofPicture: index % count)
      #expect(abs(picture.luma(180, 320) - expected) <= 6, "picture \(index)")
    }
    for (a, b) in zip(pictures, pictures.dropFirst()) {
      #expect(abs(b.presentation - a.presentation - 0.04) < 0.003)
    }
  }

  @Test("MOCK-1: pictures that are unevenly spaced keep their spacing")
  func unevenSpacing() async throws {
    let pictures = try await pictures(of: .variableRate, for: .milliseconds(1400))
    #expect(pictures.count >= 17)
    for (index, pair) in zip(pictures, pictures.dropFirst()).enumerated() {
      #expect(abs(pair.1.presentation - pair.0.presentation - (index.isMultiple(of: 2) ? 0.04 : 0.12)) < 0.003)
      #expect(abs(pair.0.luma(180, 320) - MediaFactory.luma(ofPicture: index)) <= 6)
    }
  }

  @Test("MOCK-1: a feed with sound gives the pictures that it gives without")
  func sound() async throws {
    let pictures = try await pictures(of: .withAudio, for: .seconds(3))
    #expect(pictures.count >= 74)
    #expect(zip(pictures, pictures.dropFirst()).allSatisfy { abs($1.presentation - $0.presentation - 0.04) < 0.003 })
  }

  private static let refused: [(MediaFactory.Kind, String)] = [
    (.empty, "empty"), (.truncated, "moov"), (.textNamedMP4, "media"), (.audioOnly, "video"), (.undecodable, "decode"),
    (.encrypted, "encrypted"), (.noise, "media"),
  ]

  @Test(
    "MOCK-1: what can't be played is never streaming, and says in words what is wrong with it", arguments: refused)
  func unplayable(kind: MediaFactory.Kind, word: String) async throws {
    try await withGlassesByHand(feed: URL(fileURLWithPath: try MediaFactory.path(kind)), encodesLive: true) {
      glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let watched = WatchedStream(try #require(try session.addCamera()).stream)
      let health = Observed<StreamHealthEvent>()
      let token = watched.stream.healthPublisher.listen { health.record($0) }
      watched.stream.start()
      for _ in 0..<10_000 where watched.stream.state != .stopped {
        clock.advance(by: .microseconds(100))
        await Task.yield()
      }
      #expect(
        watched.events.values == [
          .state(.waitingForDevice), .state(.starting), .error(.videoStreamingError), .state(.stopping),
          .state(.stopped),
        ])
      #expect(watched.frames.values.isEmpty)
      #expect(health.values.contains { $0.text?.contains(word) ?? false }, "\(health.values)")
      await token.cancel()
    }
  }

  @Test(
    "MOCK-1: a feed that can't be played, set while another one streams, ends the stream by an error, within two seconds"
  )
  func unplayableLater() async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)
      let watched = try await startedStream(in: session, configuration, clock)
      glasses.services.camera.setCameraFeed(fileURL: URL(fileURLWithPath: try MediaFactory.path(.noise)))
      clock.advance(by: .seconds(2))
      #expect(watched.events.values.suffix(3) == [.error(.videoStreamingError), .state(.stopping), .state(.stopped)])
      // A playable one after it streams.
      glasses.services.camera.setCameraFeed(fileURL: URL(fileURLWithPath: try MediaFactory.path(.h264)))
      let next = try await startedStream(in: session, configuration, clock)
      clock.advance(by: .seconds(1))
      #expect(next.frames.values.count >= 14)
    }
  }
}
