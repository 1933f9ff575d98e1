import Foundation
import GlasswingTesting
import LinkProtocol
import MWDATMockDevice
import TestSupport
import Testing

@Suite("Setting a feed with a check", .exclusive(.mockKit))
struct ValidatedFeedTests {
  @Test("a file that can't be played is told in words, and the camera goes on seeing what it saw (MOCK-1)")
  func refused() async throws {
    let world = try CameraWorld()
    let good = URL(fileURLWithPath: try MediaFactory.path(.h264))
    try await world.glasses.services.camera.setCameraFeed(validating: good)
    #expect(world.glasses.agent.camera.feed == .file(path: good.path))
    let kinds: [MediaFactory.Kind] = [.audioOnly, .empty, .truncated, .textNamedMP4, .undecodable]
    for path in try kinds.map({ try MediaFactory.path($0) }) + ["/nonexistent/feed.mp4"] {
      do throws(CameraFeedError) {
        try await world.glasses.services.camera.setCameraFeed(validating: URL(fileURLWithPath: path))
        Issue.record("\(path) was taken")
      } catch .notPlayable(let named, let reason) {
        #expect(named == path)
        #expect(reason.contains(path))
        #expect(reason.count > path.count + 10)
      }
      #expect(world.glasses.agent.camera.feed == .file(path: good.path))
    }
    finish(world)
  }

  private func finish(_ world: CameraWorld) { world.end() }
}
