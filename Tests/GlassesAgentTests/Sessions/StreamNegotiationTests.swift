import LinkProtocol
import Testing
import Units

@testable import GlassesAgent

@Suite("What the glasses make of what was asked for")
struct StreamNegotiationTests {
  @Test("a frame rate becomes the nearest that glasses know")
  func frameRate() {
    for asked in UInt8.min...UInt8.max {
      let wanted = VideoParameters(codec: .hevc, size: StreamNegotiation.sizes[0], frameRate: asked)
      #expect(StreamNegotiation.agree(on: wanted)?.frameRate == GlassesFrameRate.nearest(to: asked))
    }
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
