import Foundation
import Glasswing
import GlasswingTesting
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing

/// What mock glasses can be made to see.
@Suite(.exclusive(.mockKit))
struct FeedTests {
  private static let playable: [MediaFactory.Kind] = [
    .h264, .hevc, .longGOP, .bFrames, .hevcBFrames, .rotated90, .rotated180, .rotated270, .oddSize, .sixtyFrames,
    .variableRate, .widePixels, .withAudio, .truncatedTail, .vp9, .transportStream,
  ]
  private static let unplayable: [(MediaFactory.Kind, String)] = [
    (.audioOnly, "video"), (.empty, "empty"), (.truncated, "moov"), (.textNamedMP4, "media"), (.undecodable, "decode"),
  ]

  @Test("MOCK-1: any file with video plays, and goes on after its end with rising stamps", arguments: playable)
  func plays(kind: MediaFactory.Kind) async throws {
    try await plays(URL(fileURLWithPath: try MediaFactory.path(kind)))
  }

  @Test("MOCK-1, STALL-1: that a feed has but one picture a second is noticed, and then no stall")
  func slideShow() async throws {
    let feed = URL(fileURLWithPath: try RateFeed(1).path())
    try await withGlassesByHand(feed: feed, encodesLive: true) { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 24)
      let watched = try await startedStream(in: session, configuration, clock)
      clock.advance(by: .seconds(8))
      #expect(watched.frames.values.count == 9)
      let (states, stalls) = (watched.states.count, watched.stream.statistics.stalls)
      clock.advance(by: .seconds(20))
      #expect(watched.frames.values.count == 29)
      #expect(watched.states.count == states)
      #expect(watched.stream.statistics.stalls == stalls)
      #expect(watched.stream.state == .streaming)
      session.stop()
    }
  }

  @Test("MOCK-1: real recordings play", .enabled(if: SharedMedia.folder != nil, SharedMedia.whySkipped))
  func playsRealRecordings() async throws {
    for name in ["bigbuckbunny.mp4", "bikes.mp4", "carphone_pristine.mp4"] {
      try await plays(try #require(SharedMedia.folder).appendingPathComponent(name))
    }
  }

  private func plays(_ feed: URL) async throws {
    try await withGlassesByHand(feed: feed, encodesLive: true) { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)
      let watched = try await startedStream(in: session, configuration, clock)
      // The generated files last a second: that is past the end of each.
      clock.advance(by: .milliseconds(1500))
      let frames = watched.frames.values
      #expect(frames.count >= 15, "\(frames.count)")
      #expect(zip(frames, frames.dropFirst()).allSatisfy { $0.presentation < $1.presentation })
      #expect(frames.allSatisfy { $0.size.width == 360 && $0.size.height == 640 })
      #expect(watched.errors.isEmpty)
    }
  }

  @Test(
    "MOCK-1: a file that can't be played ends the start within two seconds, with an error and words about the file",
    arguments: unplayable)
  func refuses(kind: MediaFactory.Kind, word: String) async throws {
    try await refuses(URL(fileURLWithPath: try MediaFactory.path(kind)), word: word)
  }

  @Test("MOCK-1: a feed that does not exist and a folder are refused by name")
  func refusesOthers() async throws {
    try await refuses(URL(fileURLWithPath: "/nowhere/feed.mp4"), word: "feed.mp4")
    try await refuses(FileManager.default.temporaryDirectory, word: "folder")
  }

  @Test(
    "MOCK-1: a feed that can't be played and is set while the stream rests is told within two seconds, not after the pause",
    arguments: unplayable)
  func refusesDuringPause(kind: MediaFactory.Kind, word: String) async throws {
    let feed = URL(fileURLWithPath: try MediaFactory.path(kind))
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)
      let watched = try await startedStream(in: session, configuration, clock)
      glasses.services.captouch.tap()
      clock.walk(.seconds(1))
      #expect(watched.stream.state == .paused)
      // One that can be played changes nothing.
      glasses.services.camera.setCameraFeed(fileURL: URL(fileURLWithPath: try MediaFactory.path(.h264)))
      clock.walk(.seconds(2))
      #expect(watched.stream.state == .paused && watched.errors.isEmpty)
      glasses.services.camera.setCameraFeed(fileURL: feed)
      clock.walk(.seconds(2))
      #expect(watched.errors == [.videoStreamingError])
      #expect(watched.events.values.suffix(3) == [.error(.videoStreamingError), .state(.stopping), .state(.stopped)])
      let message = try #require(watched.stream.lastFailure).message
      #expect(message.contains(feed.lastPathComponent) && message.contains(word))
      // The session rests on; of another stream it can be the other way round again.
      #expect(session.state == .paused)
      session.stop()
    }
  }

  private func refuses(_ feed: URL, word: String) async throws {
    try await withGlasses(feed: feed) { glasses in
      let session = try await startedSession(with: glasses)
      let camera = try #require(try session.addCamera())
      let watched = WatchedStream(camera.stream)
      let health = Observed<StreamHealthEvent>()
      let token = camera.stream.healthPublisher.listen { health.record($0) }
      watched.stream.start()
      try await watched.events.wait("the end", within: .seconds(2)) { $0.last == .state(.stopped) }
      #expect(watched.errors == [.videoStreamingError])
      #expect(!watched.states.contains(.streaming))
      // The error explains the state that follows it.
      let events = watched.events.values
      let error = try #require(events.firstIndex(of: .error(.videoStreamingError)))
      let stopped = try #require(events.firstIndex(of: .state(.stopped)))
      #expect(error < stopped)
      let words = try await health.first("a health event") { "\($0)".contains(feed.lastPathComponent) }
      #expect("\(words)".contains(word))
      await token.cancel()
    }
  }
}
