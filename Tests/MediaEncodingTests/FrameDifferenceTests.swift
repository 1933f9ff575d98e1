import PortableMedia
import Testing
import Units

@testable import MediaEncoding

@Suite("Frame difference")
struct FrameDifferenceTests {
  private func cuts(_ pictures: [CVPixelBuffer]) throws -> [Int] {
    var difference = FrameDifference()
    return try pictures.indices.filter { difference.isCut(try #require(pictures[$0].plane(0))) }
  }

  @Test("a cut to another scene is one; panning within a scene, and its first picture, are none")
  func findsCuts() throws {
    let scenes = [TestPictures.first, TestPictures.second]
    let pictures = try (0..<60).map { try scenes[$0 / 20 % 2].picture($0) }
    #expect(try cuts(pictures) == [20, 40])
  }

  @Test("pictures shown twice don't make the next motion look like a cut")
  func ignoresRepeats() throws {
    // 15 pictures a second shown at 30.
    let pictures = try (0..<60).map { try TestPictures.first.picture($0 / 2 * 2) }
    #expect(try cuts(pictures).filter { $0 > 10 } == [])
  }

  @Test("a cut after a still scene is one")
  func findsCutAfterStill() throws {
    let scenes = [TestPictures.first, TestPictures.second]
    let pictures = try (0..<60).map { try scenes[$0 / 30].picture($0 < 5 ? $0 : 5) }
    #expect(try cuts(pictures) == [30])
  }

  @Test("motion that begins at once is taken for a cut once at most")
  func motionIsNoCut() throws {
    let pictures = try (0..<40).map { try TestPictures.first.picture($0 < 20 ? 0 : 15 * $0) }
    #expect(try cuts(pictures).filter { $0 >= 20 }.count <= 1)
  }

  @Test("a change of size begins anew")
  func changesSize() throws {
    let flat = try [(64, 64, 20), (96, 64, 200), (64, 64, 90)].map { width, height, luma in
      try TestPictures.flat(PixelSize(width: width, height: height), luma: UInt8(luma))
    }
    #expect(try cuts(flat) == [])
  }
}
