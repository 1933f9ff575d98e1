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
    // From each rung the next one is what its least, and a bit less, still carries.
    for _ in 0..<8 {
      let rate = Bitrate(bitsPerSecond: ladder.rung.least.bitsPerSecond - 1)
      guard let step = ladder.look(rate, overflowed: true, at: Instant(nanoseconds: 0)) else { break }
      rungs.append(step.to)
    }
    return rungs
  }

  @Test("below what was asked come the smaller sizes, then the slower rates of the smallest")
  func order() {
    let all = rungs(Self.sizes[0], 30)
    #expect(all.map(\.video.size) == Self.sizes + [PixelSize](repeating: Self.sizes[2], count: 4))
    #expect(all.map(\.video.frameRate) == [30, 30, 30, 24, 15, 7, 2])
    #expect(zip(all, all.dropFirst()).allSatisfy { $0.bitrate > $1.bitrate })
    #expect(rungs(Self.sizes[1], 24).map(\.video.frameRate) == [24, 24, 15, 7, 2])
    #expect(rungs(Self.sizes[2], 30).map(\.video.frameRate) == [30, 24, 15, 7, 2])
    // Movement is kept for as long as the encoder makes any picture of it.
    #expect(all.suffix(3).map(\.least) == [80, 50, 50].map { Bitrate.kilobitsPerSecond($0) })
  }

  @Test("what was asked for slow stays that slow in the smaller sizes", arguments: [2, 7, 15] as [UInt8])
  func slow(frameRate: UInt8) {
    #expect(rungs(Self.sizes[0], frameRate).prefix(3).map(\.video.frameRate) == [frameRate, frameRate, frameRate])
    #expect(rungs(Self.sizes[2], frameRate).count == 1 + [2, 7, 15].count { $0 < frameRate })
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
