import MediaEngine
import PortableMedia
import TestSupport
import Testing
import Units

@testable import MediaEncoding

@Suite("HEIC encoder")
struct HEICEncoderTests {
  @Test("writes a HEIC file and says its size, smaller at lower quality")
  func writesFiles() throws {
    let picture = try TestPictures(size: PixelSize(width: 320, height: 240)).picture(0)
    let stills = try StillQuality.allCases.map { try HEICEncoder.encode(picture, quality: $0) }
    for still in stills {
      #expect(still.size == PixelSize(width: 320, height: 240))
      #expect(Array(still.bytes[4..<12]) == Array("ftypheic".utf8))
    }
    #expect(stills[0].bytes.count < stills[1].bytes.count)
    #expect(stills[1].bytes.count < stills[2].bytes.count)
  }

  @Test("refuses pixel formats that are not 4:2:0")
  func refusesOtherFormats() throws {
    let picture = try #require(CVPixelBuffer(width: 64, height: 64, pixelFormat: kCVPixelFormatType_32BGRA))
    #expect(throws: MediaError.self) { try HEICEncoder.encode(picture) }
  }
}
