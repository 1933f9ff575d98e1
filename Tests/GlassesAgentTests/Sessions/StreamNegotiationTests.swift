import LinkProtocol
import Testing
import Units

@testable import GlassesAgent

@Suite("What the glasses make of what was asked for")
struct StreamNegotiationTests {
  @Test(
    "a frame rate becomes the nearest that the camera has",
    arguments: [
      (0, 2), (1, 2), (2, 2), (4, 2), (5, 7), (11, 7), (12, 15), (19, 15), (20, 24), (25, 24), (27, 24), (28, 30),
      (60, 30), (255, 30),
    ] as [(UInt8, UInt8)])
  func frameRate(asked: UInt8, given: UInt8) {
    #expect(StreamNegotiation.nearestFrameRate(to: asked) == given)
  }

  @Test("a size of the ladder stays; any other becomes the one of the nearest area")
  func size() throws {
    func agreed(_ width: Int, _ height: Int) -> PixelSize? {
      StreamNegotiation.agree(
        on: VideoParameters(codec: .hevc, size: PixelSize(width: width, height: height), frameRate: 24))?.size
    }
    for size in StreamNegotiation.sizes { #expect(agreed(size.width, size.height) == size) }
    #expect(agreed(0, 0) == PixelSize(width: 360, height: 640))
    #expect(agreed(500, 900) == PixelSize(width: 504, height: 896))
    #expect(agreed(.max, .max) == PixelSize(width: 720, height: 1280))
    #expect(agreed(.min, .max) == PixelSize(width: 360, height: 640))
  }

  @Test("a codec that the glasses lack is refused")
  func codec() {
    let asked = VideoParameters(codec: .h264, size: StreamNegotiation.sizes[0], frameRate: 24)
    #expect(StreamNegotiation.agree(on: asked) == nil)
  }
}
