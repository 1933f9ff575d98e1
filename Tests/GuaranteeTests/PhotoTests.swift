import Foundation
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing

/// Photos taken while the stream runs.
@Suite(.exclusive(.mockKit))
struct PhotoTests {
  private func withStream(
    feed: URL? = nil, _ test: (any MockGlasses, WatchedStream) async throws -> Void
  ) async throws {
    try await withGlasses(feed: feed) { glasses in
      let session = try await startedSession(with: glasses)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 30)
      let watched = WatchedStream(try #require(try session.addCamera(config: configuration)).stream)
      watched.stream.start()
      try await watched.wait(for: .streaming)
      try await test(glasses, watched)
    }
  }

  @Test(
    "PHOTO-1: a photo comes in the format asked for, at the feed's own size, and opens elsewhere",
    arguments: [PhotoCaptureFormat.jpeg, .heic])
  func formats(format: PhotoCaptureFormat) async throws {
    let feed = URL(fileURLWithPath: try MediaFactory.path(.h264))
    try await withStream(feed: feed) { _, watched in
      #expect(watched.stream.capturePhoto(format: format))
      let photo = try await watched.photos.first("a photo")
      #expect(photo.format == format)
      let image = try #require(UIImage(data: photo.data))
      #expect(image.size.width == 160 && image.size.height == 120)
      let magic: [UInt8] = format == .jpeg ? [0xFF, 0xD8, 0xFF] : Array("ftypheic".utf8)
      #expect(Array(photo.data.dropFirst(format == .jpeg ? 0 : 4).prefix(magic.count)) == magic)
      #expect(watched.stream.state == .streaming)
      #expect(watched.errors.isEmpty)
    }
  }

  @Test("PHOTO-1: while one photo is being taken a second is refused; one result comes")
  func refusesSecond() async throws {
    try await withStream { _, watched in
      #expect(watched.stream.capturePhoto(format: .heic))
      #expect(watched.stream.capturePhoto(format: .jpeg) == false)
      _ = try await watched.photos.first("a photo")
      let seen = watched.frames.values.count
      try await watched.wait(forFrames: seen + 10)
      #expect(watched.photos.values.count == 1)
      #expect(watched.stream.capturePhoto(format: .jpeg))
      try await watched.photos.wait("the next photo") { $0.count == 2 }
    }
  }

  @Test("PHOTO-2: after a failed photo the next one is taken")
  func recoversAfterFailure() async throws {
    try await withStream { glasses, watched in
      glasses.services.camera.setCapturedImage(fileURL: URL(fileURLWithPath: "/nowhere/photo.jpg"))
      #expect(watched.stream.capturePhoto(format: .jpeg))
      try await watched.events.wait("the failure") { $0.last == .error(.photoCaptureFailed) }
      #expect(watched.stream.state == .streaming)

      let picture = try stillPicture()
      glasses.services.camera.setCapturedImage(fileURL: picture)
      #expect(watched.stream.capturePhoto(format: .jpeg))
      _ = try await watched.photos.first("a photo")
      #expect(watched.errors == [.photoCaptureFailed])
    }
  }

  @Test("PHOTO-4: the bytes that arrive are the bytes of the glasses' picture")
  func bytesAreEqual() async throws {
    let picture = try stillPicture()
    try await withStream { glasses, watched in
      glasses.services.camera.setCapturedImage(fileURL: picture)
      #expect(watched.stream.capturePhoto(format: .jpeg))
      let photo = try await watched.photos.first("a photo")
      #expect(photo.data == (try Data(contentsOf: picture)))
    }
  }

  @Test("a photo does not hold up the video")
  func videoGoesOn() async throws {
    try await withStream { _, watched in
      try await watched.wait(forFrames: 15)
      #expect(watched.stream.capturePhoto(format: .heic))
      _ = try await watched.photos.first("a photo")
      let seen = watched.frames.values.count
      try await watched.wait(forFrames: seen + 15)
      let stamps = watched.frames.values.map { CMTimeGetSeconds($0.presentation) }
      let longest = zip(stamps, stamps.dropFirst()).map { $1 - $0 }.max() ?? 0
      #expect(longest < 1)
    }
  }

  @Test("no photo is taken by a stream that does not stream")
  func notStreaming() async throws {
    try await withGlasses { glasses in
      let session = try await startedSession(with: glasses)
      let stream = try #require(try session.addCamera()).stream
      #expect(stream.capturePhoto(format: .jpeg) == false)
    }
  }
}
