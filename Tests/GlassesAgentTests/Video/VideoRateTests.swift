import LinkProtocol
import Testing
import Units

@testable import GlassesAgent

@Suite("What a stream is sent as")
struct VideoRateTests {
  private static let sizes = StreamNegotiation.sizes

  private func rungs(_ size: PixelSize, _ frameRate: UInt8, bitrate: Bitrate? = nil) -> [Ladder.Rung] {
    var ladder = Ladder(asked: VideoParameters(codec: .hevc, size: size, frameRate: frameRate), bitrate: bitrate)
    var rungs = [ladder.rung]
    // From each rung the next one is what half of its rate, and a bit less, still carries.
    for _ in 0..<8 {
      let rate = Bitrate(bitsPerSecond: ladder.rung.bitrate.bitsPerSecond / 2 - 1)
      guard let step = ladder.look(rate, overflowed: true, at: Instant(nanoseconds: 0)) else { break }
      rungs.append(step.to)
    }
    return rungs
  }

  @Test("below what was asked come the smaller sizes, then the slower rates of the smallest down to 15")
  func order() {
    let all = rungs(Self.sizes[0], 30)
    #expect(all.map(\.video.size) == Self.sizes + [Self.sizes[2], Self.sizes[2]])
    #expect(all.map(\.video.frameRate) == [30, 30, 30, 24, 15])
    #expect(zip(all, all.dropFirst()).allSatisfy { $0.bitrate > $1.bitrate })
    #expect(rungs(Self.sizes[1], 24).map(\.video.frameRate) == [24, 24, 15])
    #expect(rungs(Self.sizes[2], 30).map(\.video.frameRate) == [30, 24, 15])
  }

  @Test("what was asked for slow stays that slow", arguments: [2, 7, 15] as [UInt8])
  func slow(frameRate: UInt8) {
    #expect(rungs(Self.sizes[0], frameRate).map(\.video.frameRate) == [frameRate, frameRate, frameRate])
    #expect(rungs(Self.sizes[2], frameRate).count == 1)
  }

  @Test("a bit rate that was given holds for the rungs below in proportion")
  func bitrate() {
    let usual = rungs(Self.sizes[0], 30)
    let doubled = rungs(Self.sizes[0], 30, bitrate: .kilobitsPerSecond(6000))
    #expect(usual.count == doubled.count)
    #expect(zip(usual, doubled).allSatisfy { abs($1.bitrate.bitsPerSecond - 2 * $0.bitrate.bitsPerSecond) <= 2 })
  }

  @Test("the app is told of a form once, before its first unit, and not of the one that it asked for")
  func announces() {
    let asked = VideoParameters(codec: .hevc, size: Self.sizes[1], frameRate: 30)
    let rate = VideoRate(asked: asked, bitrate: nil)
    var smaller = asked
    smaller.size = Self.sizes[2]
    #expect(rate.announce(asked) == nil)
    #expect(rate.announce(smaller) == .linkNarrowed)
    #expect(rate.announce(smaller) == nil)
    #expect(rate.announce(asked) == .linkWidened)
  }
}
