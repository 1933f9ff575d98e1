import Testing
import Units

@testable import GlassesAgent

@Suite("Default bit rates")
struct VideoBitrateTests {
  @Test("the three sizes have their named rates at 30 pictures a second")
  func namedSizes() {
    #expect(VideoBitrate.default(for: PixelSize(width: 360, height: 640), frameRate: 30) == VideoBitrate.low)
    #expect(VideoBitrate.default(for: PixelSize(width: 504, height: 896), frameRate: 30) == VideoBitrate.medium)
    #expect(VideoBitrate.default(for: PixelSize(width: 720, height: 1280), frameRate: 30) == VideoBitrate.high)
  }

  @Test("fewer pictures need less, but each may cost more")
  func frameRates() {
    let rates = [2, 7, 15, 24, 30].map {
      VideoBitrate.default(for: PixelSize(width: 504, height: 896), frameRate: $0).bitsPerSecond
    }
    #expect(zip(rates, rates.dropFirst()).allSatisfy { $0 < $1 })
    let perPicture = zip(rates, [2, 7, 15, 24, 30]).map { $0 / $1 }
    #expect(zip(perPicture, perPicture.dropFirst()).allSatisfy { $0 > $1 })
  }

  @Test("any size has a rate within bounds")
  func bounds() {
    for edge in [Int.min, -1, 0, 1, 100, 4000, .max] {
      for rate in [Double.nan, -Double.infinity, 0, 30, 1e300] {
        let bitrate = VideoBitrate.default(for: PixelSize(width: edge, height: edge), frameRate: rate)
        #expect((100_000...12_000_000).contains(bitrate.bitsPerSecond))
      }
    }
  }
}
