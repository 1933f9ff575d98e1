import MediaEncoding
import PortableMedia
import Testing

@testable import MediaEngine

@Suite struct HEICTests {
  @Test("a HEIC image comes upright, with its colours")
  func colours() throws {
    let picture = try filled(96, 64, luma: 81, cb: 90, cr: 240)
    let bytes = try HEICEncoder.encode(picture).bytes
    let still = try StillDecoder.decode(bytes)
    #expect(still.format == .heic && still.orientation == .up)
    #expect(still.picture.pixelWidth == 96 && still.picture.pixelHeight == 64)
    for (channel, wanted) in [0, 0, 255].enumerated() {
      #expect(abs(sample(still.picture, plane: 0, x: 40 * 4 + channel, y: 30) - wanted) <= 8)
    }
  }

  @Test("a HEIC image that is cut off is refused, wherever it is cut")
  func cut() throws {
    let bytes = try HEICEncoder.encode(try filled(96, 64, luma: 81, cb: 90, cr: 240)).bytes
    for count in stride(from: 12, to: bytes.count - 1, by: max(1, bytes.count / 60)) {
      expectCause(.damagedPicture) { try StillDecoder.decode(Array(bytes.prefix(count))) }
    }
  }
}
