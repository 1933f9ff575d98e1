import Testing

@testable import LinkProtocol

@Suite("The pictures a second that glasses know")
struct GlassesFrameRateTests {
  /// What each rate from 1 to 60 becomes.
  static let table: [(asked: ClosedRange<UInt>, given: UInt8)] = [
    (1...4, 2), (5...10, 7), (11...19, 15), (20...26, 24), (27...60, 30),
  ]

  @Test("a rate becomes the nearest, of two equally near ones (11, 27) the higher", arguments: UInt(1)...60)
  func nearest(asked: UInt) throws {
    let given = try #require(Self.table.first { $0.asked.contains(asked) }).given
    #expect(GlassesFrameRate.nearest(to: asked) == given)
    #expect(GlassesFrameRate.nearest(to: UInt8(asked)) == given)
  }

  @Test("what glasses know stays, and the ends are the nearest to what is beyond them")
  func ends() {
    for rate in GlassesFrameRate.all { #expect(GlassesFrameRate.nearest(to: rate) == rate) }
    #expect(GlassesFrameRate.nearest(to: UInt(0)) == 2)
    #expect(GlassesFrameRate.nearest(to: UInt.max) == 30)
    #expect(GlassesFrameRate.nearest(to: UInt8.max) == 30)
  }
}
