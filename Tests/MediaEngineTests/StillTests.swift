import Foundation
import PortableMedia
import TestSupport
import Testing
import Units

@testable import MediaEngine

@Suite struct StillTests {
  @Test("a JPEG keeps black, white and colours", arguments: [(64, 48), (65, 49), (200, 100), (1, 1)])
  func jpeg(_ width: Int, _ height: Int) throws {
    // Limited range: black, white, and red by BT.601.
    for (ycc, rgb) in [
      ([16, 128, 128], [0, 0, 0]), ([235, 128, 128], [255, 255, 255]), ([81, 90, 240], [255, 0, 0]),
    ] {
      let picture = try filled(width, height, luma: ycc[0], cb: ycc[1], cr: ycc[2])
      for format in [
        kCVPixelFormatType_420YpCbCr8Planar, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange,
        kCVPixelFormatType_32BGRA, kCVPixelFormatType_420YpCbCr8PlanarFullRange,
      ] {
        let bytes = try JPEGEncoder.encode(try PictureConverter().convert(picture, to: format))
        let still = try StillDecoder.decode(bytes)
        #expect(still.format == .jpeg && still.orientation == .up)
        #expect(still.picture.pixelWidth == width && still.picture.pixelHeight == height)
        for (x, y) in [(0, 0), (width - 1, height - 1)] { expect(still.picture, x, y, rgb, within: 4) }
      }
    }
  }

  @Test("a JPEG of BT.709 colours shows the same colours")
  func jpeg709() throws {
    let picture = try filled(32, 32, luma: 63, cb: 102, cr: 240)
    CVBufferSetAttachment(
      picture, kCVImageBufferYCbCrMatrixKey, kCVImageBufferYCbCrMatrix_ITU_R_709_2, .shouldPropagate)
    expect(try StillDecoder.decode(try JPEGEncoder.encode(picture)).picture, 16, 16, [255, 0, 0], within: 4)
  }

  @Test("strangers read our JPEG and PNG")
  func strangers() throws {
    let picture = try filled(48, 32, luma: 81, cb: 90, cr: 240)
    for (name, bytes) in [("jpg", try JPEGEncoder.encode(picture)), ("png", try PNGCoder.encode(picture))] {
      let path = try MediaFactory.newPath(name)
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      #expect(try MediaInspector.complaints(path) == "")
      #expect(try MediaInspector.videoField("width", path) == "48")
    }
  }

  @Test("a higher quality costs more bytes")
  func quality() throws {
    let picture = try #require(try VideoFileReader(path: MediaFactory.path(.longGOP), loops: false).next()).picture
    let sizes = try [10, 50, 95].map { try JPEGEncoder.encode(picture, quality: $0).count }
    #expect(sizes[0] < sizes[1] && sizes[1] < sizes[2])
    #expect(try JPEGEncoder.encode(picture, quality: -5).count <= sizes[0])
  }

  @Test("a PNG keeps every pixel", arguments: [(64, 48), (65, 49), (1, 1)])
  func png(_ width: Int, _ height: Int) throws {
    let picture = try #require(
      CVPixelBuffer(width: width, height: height, pixelFormat: kCVPixelFormatType_32BGRA))
    let plane = try #require(picture.plane(0))
    for y in 0..<height {
      for x in 0..<width {
        let pixel = UInt32(x) | UInt32(y) << 8 | UInt32(x ^ y) << 16 | 0xff00_0000
        plane.base.storeBytes(of: pixel, toByteOffset: y * plane.bytesPerRow + x * 4, as: UInt32.self)
      }
    }
    let still = try StillDecoder.decode(try PNGCoder.encode(picture))
    #expect(still.format == .png)
    #expect(try PictureConverter().rgba(still.picture) == PictureConverter().rgba(picture))
  }

  @Test("grey, palette and 16-bit PNG are read", arguments: ["gray", "pal8", "rgb48be", "ya8", "monob"])
  func pngFormats(_ format: String) throws {
    let path = try MediaFactory.newPath("png")
    try CommandLineTool.run(
      "ffmpeg",
      ["-v", "error", "-y", "-f", "lavfi", "-i", "color=white:s=40x30", "-frames:v", "1", "-pix_fmt", format, path])
    let still = try StillDecoder.decode([UInt8](Data(contentsOf: URL(fileURLWithPath: path))))
    expect(still.picture, 20, 15, [255, 255, 255], within: 3)
  }

  @Test("the Exif orientation is reported, in either byte order", arguments: StillOrientation.allCases)
  func orientation(_ orientation: StillOrientation) throws {
    let plain = try JPEGEncoder.encode(try filled(16, 16, luma: 100, cb: 128, cr: 128))
    for isLittle in [true, false] {
      let bytes = plain.prefix(2) + exif(orientation.rawValue, isLittle: isLittle) + plain.dropFirst(2)
      #expect(try StillDecoder.decode(Array(bytes)).orientation == orientation)
    }
  }

  @Test("damaged Exif data means upright and never traps")
  func damagedExif() throws {
    let jpeg = [0xff, 0xd8] + exif(6, isLittle: false) + [0xff, 0xd9]
    #expect(jpeg.withUnsafeBytes { ExifOrientation.read(jpeg: $0) } == .right)
    for count in 0..<jpeg.count {
      #expect(jpeg.prefix(count).withUnsafeBytes { ExifOrientation.read(jpeg: $0) } == .up || count >= jpeg.count - 2)
    }
    for bit in 0..<jpeg.count * 8 {
      var flipped = jpeg
      flipped[bit / 8] ^= 0x80 >> UInt8(bit % 8)
      _ = flipped.withUnsafeBytes { ExifOrientation.read(jpeg: $0) }
    }
  }

  @Test("what is no image, or a damaged one, is refused with the cause")
  func refused() throws {
    expectCause(.malformedData) { try StillDecoder.decode([]) }
    expectCause(.notMedia) { try StillDecoder.decode(Array("This is no image.".utf8)) }
    let picture = try #require(try VideoFileReader(path: MediaFactory.path(.longGOP), loops: false).next()).picture
    for bytes in [try JPEGEncoder.encode(picture), try PNGCoder.encode(picture)] {
      for count in stride(from: 12, to: bytes.count - 12, by: bytes.count / 20) {
        expectCause(.damagedPicture) { try StillDecoder.decode(Array(bytes.prefix(count))) }
      }
    }
    let heic = [0, 0, 0, 24] + Array("ftypheic".utf8) + [UInt8](repeating: 0, count: 40)
    expectCause(.damagedPicture) { try StillDecoder.decode(heic) }
  }

  @Test("an image that claims a huge size is refused before memory is taken")
  func huge() throws {
    var bytes = try JPEGEncoder.encode(try filled(16, 16, luma: 100, cb: 128, cr: 128))
    // The frame header (SOF0): length, precision, height, width.
    let start = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xff && bytes[$0 + 1] == 0xc0 })
    bytes.replaceSubrange(start + 5..<start + 9, with: [0xff, 0x00, 0xff, 0x00])
    expectCause(.sizeNotSupported) { try StillDecoder.decode(bytes) }
  }

  private func exif(_ value: UInt16, isLittle: Bool) -> [UInt8] {
    func number(_ value: Int, _ count: Int) -> [UInt8] {
      let big = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
      return isLittle ? big.reversed() : big
    }
    var tiff = Array((isLittle ? "II" : "MM").utf8) + number(42, 2) + number(8, 4)
    tiff += number(2, 2)
    tiff += number(271, 2) + number(2, 2) + number(4, 4) + Array("Abc\0".utf8)
    tiff += number(274, 2) + number(3, 2) + number(1, 4) + number(Int(value), 2) + [0, 0]
    let body = Array("Exif\0\0".utf8) + tiff
    return [0xff, 0xe1, UInt8((body.count + 2) >> 8), UInt8((body.count + 2) & 0xff)] + body
  }

  private func expect(
    _ picture: CVPixelBuffer, _ x: Int, _ y: Int, _ rgb: [Int], within: Int,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for (channel, wanted) in [2, 1, 0].enumerated() {
      let found = sample(picture, plane: 0, x: x * 4 + wanted, y: y)
      #expect(abs(found - rgb[channel]) <= within, "channel \(channel): \(found)", sourceLocation: sourceLocation)
    }
  }
}
