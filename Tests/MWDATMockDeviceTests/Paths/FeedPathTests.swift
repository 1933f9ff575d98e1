import Foundation
import LinkProtocol
import MWDATCamera
import MWDATCore
import TestSupport
import Testing

@testable import MWDATMockDevice

@Suite("What the simulated camera sees", .exclusive(.mockKit))
struct FeedPathTests {
  private static let unplayable: [MediaFactory.Kind] = [
    .audioOnly, .empty, .truncated, .textNamedMP4, .undecodable, .encrypted, .noise,
  ]
  private static let playable = MediaFactory.Kind.allCases.filter { !unplayable.contains($0) }

  private func url(_ kind: MediaFactory.Kind) throws -> URL { URL(fileURLWithPath: try MediaFactory.path(kind)) }

  @Test("any file with H.264 or HEVC video streams, in a loop with rising times (MOCK-1)", arguments: playable)
  func plays(kind: MediaFactory.Kind) throws {
    let world = try CameraWorld()
    world.glasses.services.camera.setCameraFeed(fileURL: try url(kind))
    world.start()
    #expect(world.stream.state == .streaming)
    world.time.advance(by: .seconds(9))
    #expect(world.errors.values.isEmpty)
    #expect(world.frames.values.count >= 90)
    #expect(zip(world.stamps, world.stamps.dropFirst()).allSatisfy { $0 < $1 })
    world.end()
  }

  @Test(
    "a file that can't be played ends the stream with an error, then stops it, within two seconds (MOCK-1)",
    arguments: unplayable)
  func refused(kind: MediaFactory.Kind) throws {
    let world = try CameraWorld()
    world.glasses.services.camera.setCameraFeed(fileURL: try url(kind))
    world.stream.start()
    world.time.advance(by: .seconds(2))
    #expect(world.errors.values == [.videoStreamingError])
    #expect(world.stream.state == .stopped)
    #expect(!world.states.values.contains(.streaming))
    let log = world.log.values
    let error = try #require(log.firstIndex(of: "error videoStreamingError"))
    #expect(error < (try #require(log.firstIndex(of: "stopped"))))
    #expect(world.frames.values.isEmpty)
    #expect(world.session.state == .started)
    world.end()
  }

  @Test("a file that is not there ends the stream the same way")
  func missing() throws {
    let world = try CameraWorld()
    world.glasses.services.camera.setCameraFeed(fileURL: URL(fileURLWithPath: "/nonexistent/feed.mp4"))
    world.stream.start()
    world.time.advance(by: .seconds(2))
    #expect(world.errors.values == [.videoStreamingError])
    #expect(world.stream.state == .stopped)
    world.end()
  }

  @Test("either way the simulated host's camera faces, the test pattern shows")
  func facing() throws {
    for facing in [CameraFacing.front, .back] {
      let world = try CameraWorld()
      world.glasses.services.camera.setCameraFeed(fileURL: try url(.empty))
      world.glasses.services.camera.setCameraFeed(cameraFacing: facing)
      world.start()
      #expect(world.stream.state == .streaming)
      world.end()
    }
  }

  @Test("a feed set while streaming shows at once, without an error or a state")
  func change() throws {
    let world = try CameraWorld()
    world.start()
    let states = world.states.values
    let before = world.frames.values.count
    world.glasses.services.camera.setCameraFeed(fileURL: try url(.h264))
    world.time.advance(by: .seconds(1))
    #expect(world.frames.values.count > before + 10)
    #expect(world.frames.values[before...].first?.isSync == true)
    #expect(world.states.values == states)
    #expect(world.errors.values.isEmpty)
    #expect(zip(world.stamps, world.stamps.dropFirst()).allSatisfy { $0 < $1 })
    world.end()
  }

  @Test("real recordings stream", .enabled(if: SharedMedia.folder != nil, SharedMedia.whySkipped))
  func recordings() throws {
    let folder = try #require(SharedMedia.folder)
    for name in ["bigbuckbunny.mp4", "bikes.mp4", "carphone_pristine.mp4"] {
      let world = try CameraWorld()
      world.glasses.services.camera.setCameraFeed(fileURL: folder.appendingPathComponent(name))
      world.start()
      #expect(world.stream.state == .streaming, "\(name)")
      #expect(world.errors.values.isEmpty, "\(name)")
      world.end()
    }
  }
}
