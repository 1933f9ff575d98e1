import CHEIF
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

  @Test(
    "colours come back as they were: black is black and white is white, in every layout that is taken",
    arguments: [
      (Colour(luma: 16, cb: 128, cr: 128), [0, 0, 0]), (Colour(luma: 235, cb: 128, cr: 128), [255, 255, 255]),
      (Colour(luma: 81, cb: 90, cr: 240), [255, 0, 0]), (Colour(luma: 145, cb: 54, cr: 34), [0, 255, 0]),
    ])
  func keepsColours(colour: Colour, expected: [Int]) throws {
    let size = PixelSize(width: 102, height: 66)
    let planar = try TestPictures.flat(size, luma: colour.luma, cb: colour.cb, cr: colour.cr)
    let biPlanar = try PictureConverter().convert(planar, to: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
    for picture in [planar, biPlanar] {
      let decoded = try decode(try HEICEncoder.encode(picture).bytes)
      for (value, wanted) in zip(decoded.pixel, expected) { #expect(abs(value - wanted) <= 3, "\(decoded.pixel)") }
    }
  }

  struct Colour: Sendable {
    var luma: UInt8
    var cb: UInt8
    var cr: UInt8
  }

  @Test("the orientation turns what a viewer shows, as in Exif", arguments: 1...8 as ClosedRange<UInt8>)
  func orients(orientation: UInt8) throws {
    // White above, black below.
    let picture = try TestPictures.make(PixelSize(width: 128, height: 64)) { plane, row, line in
      line.update(repeating: plane == 0 ? (row < 32 ? 235 : 16) : 128)
    }
    let still = try HEICEncoder.encode(picture, orientation: orientation)
    #expect(still.size == PixelSize(width: 128, height: 64))
    let decoded = try decode(still.bytes)
    let isTurned = orientation >= 5
    #expect(decoded.size == (isTurned ? PixelSize(width: 64, height: 128) : PixelSize(width: 128, height: 64)))
    // Which side of the shown picture row 0 is on (CIPA DC-008, 4.6.4).
    let topSide: [UInt8: Side] = [
      1: .top, 2: .top, 3: .bottom, 4: .bottom, 5: .left, 6: .right, 7: .right, 8: .left,
    ]
    #expect(decoded.brightSide == topSide[orientation])
  }

  @Test("an orientation that does not exist is none", arguments: [0, 9, 255] as [UInt8])
  func ignoresOtherOrientations(orientation: UInt8) throws {
    let picture = try TestPictures.flat(PixelSize(width: 128, height: 64), luma: 90)
    #expect(
      try decode(try HEICEncoder.encode(picture, orientation: orientation).bytes).size
        == PixelSize(width: 128, height: 64))
  }

  @Test("refuses pixel formats that are not 4:2:0")
  func refusesOtherFormats() throws {
    let picture = try #require(CVPixelBuffer(width: 64, height: 64, pixelFormat: kCVPixelFormatType_32BGRA))
    #expect(throws: MediaError.self) { try HEICEncoder.encode(picture) }
  }

  enum Side: Hashable {
    case top, bottom, left, right
  }

  private struct Decoded {
    var size: PixelSize
    /// Red, green and blue of the middle of the upper left quarter.
    var pixel: [Int]
    var brightSide: Side?
  }

  /// What the library, as any viewer, makes of a file.
  private func decode(_ bytes: [UInt8]) throws -> Decoded {
    struct Failure: Error {}
    let context = heif_context_alloc()
    defer { heif_context_free(context) }
    let read = bytes.withUnsafeBytes { heif_context_read_from_memory(context, $0.baseAddress, $0.count, nil) }
    var handle: OpaquePointer?
    guard read.code == heif_error_Ok, heif_context_get_primary_image_handle(context, &handle).code == heif_error_Ok
    else { throw Failure() }
    defer { heif_image_handle_release(handle) }
    var image: OpaquePointer?
    let decoded = heif_decode_image(handle, &image, heif_colorspace_RGB, heif_chroma_interleaved_RGB, nil)
    guard decoded.code == heif_error_Ok else { throw Failure() }
    defer { heif_image_release(image) }
    var stride: Int32 = 0
    guard let plane = heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride) else { throw Failure() }
    let width = Int(heif_image_get_width(image, heif_channel_interleaved))
    let height = Int(heif_image_get_height(image, heif_channel_interleaved))
    func pixel(_ x: Int, _ y: Int) -> [Int] { (0..<3).map { Int(plane[y * Int(stride) + 3 * x + $0]) } }
    let sides: [(Side, Int, Int)] = [
      (.top, width / 2, 4), (.bottom, width / 2, height - 5), (.left, 4, height / 2), (.right, width - 5, height / 2),
    ]
    // Bright alone among its opposite: the two beside it are cut through by the edge.
    let bright = sides.filter { pixel($0.1, $0.2)[0] > 128 }.map(\.0)
    let dark = sides.filter { pixel($0.1, $0.2)[0] <= 128 }.map(\.0)
    let opposite: [Side: Side] = [.top: .bottom, .bottom: .top, .left: .right, .right: .left]
    let brightSide = bright.first { side in opposite[side].map(dark.contains) ?? false }
    return Decoded(
      size: PixelSize(width: width, height: height), pixel: pixel(width / 4, height / 4), brightSide: brightSide)
  }
}
