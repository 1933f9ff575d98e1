import Foundation
import MediaEncoding
import MediaEngine
import PortableMedia
import TestSupport
import Testing
import Units

@testable import GlassesAgent

@Suite("Test pattern")
struct PatternTests {
  private static let sizes = [
    PixelSize(width: 360, height: 640), PixelSize(width: 504, height: 896), PixelSize(width: 720, height: 1280),
    PixelSize(width: 1080, height: 1920), PixelSize(width: 640, height: 360), PixelSize(width: 320, height: 320),
    PixelSize(width: 146, height: 258), PixelSize(width: 96, height: 64),
  ]

  @Test("pictures of any size say their number and time", arguments: sizes)
  func readsBack(_ size: PixelSize) throws {
    let source = try PatternSource(size: size, frameRate: 30)
    for second in [0, 0.5, 1, 59.97, 3600 * 1000.25] {
      let picture = try source.picture(at: .seconds(second))
      let reading = try #require(PatternReader.read(picture.buffer))
      #expect(Int64(reading.mark.frameNumber) == picture.index)
      #expect(Int64(reading.mark.milliseconds) == picture.time.nanoseconds / 1_000_000)
      #expect(picture.time <= .seconds(second) && .seconds(second) - picture.time < .seconds(1) / 30)
    }
  }

  @Test("is read from the decoder's 420v, and from red, green and blue too")
  func readsOtherLayouts() throws {
    let size = PixelSize(width: 360, height: 640)
    let source = try PatternSource(size: size, frameRate: 30)
    let encoder = try HEVCEncoder(.init(size: size, frameRate: 30, bitrate: .kilobitsPerSecond(600)))
    let decoder = try VideoDecoder(codec: .hevc)
    for index in 0..<30 {
      let picture = try source.picture(at: source.nextPictureTime(from: .seconds(1) * index / 30))
      let unit = try encoder.encode(picture.buffer)
      let decoded = try #require(try unit.payload.withUnsafeBytes { try decoder.decode($0) })
      #expect(decoded.pixelFormat == kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
      #expect(PatternReader.read(decoded)?.mark.frameNumber == UInt32(index))
      let packed = try PictureConverter().convert(decoded, to: kCVPixelFormatType_32BGRA)
      #expect(PatternReader.read(packed)?.mark.frameNumber == UInt32(index))
    }
  }

  @Test("the light is on during the first tenth of each second, and only then")
  func flashes() throws {
    let source = try PatternSource(size: PixelSize(width: 320, height: 320), frameRate: 30)
    for index in 0..<90 {
      let picture = try source.picture(at: source.nextPictureTime(from: .seconds(1) * index / 30))
      #expect(PatternReader.read(picture.buffer)?.isFlash == (index % 30 < 3), "picture \(index)")
    }
  }

  @Test("the same time gives the same picture, from any source of the size and rate")
  func isDeterministic() throws {
    let size = PixelSize(width: 360, height: 640)
    let sources = try (0..<2).map { _ in try PatternSource(size: size, frameRate: 24) }
    let pictures = try sources.map { try bytes($0.picture(at: .milliseconds(1234)).buffer) }
    #expect(pictures[0] == pictures[1])
    #expect(try bytes(sources[0].picture(at: .milliseconds(1300)).buffer) != pictures[0])
  }

  @Test("pictures are due at their number divided by the rate", arguments: [2, 7, 15, 24, 29.97, 30, 60])
  func timesFollowTheRate(_ rate: Double) throws {
    let source = try PatternSource(size: PixelSize(width: 64, height: 64), frameRate: rate)
    var time: Duration = .zero
    for index in 0..<200 {
      time = source.nextPictureTime(from: time)
      #expect(abs(time.seconds - Double(index) / rate) < 2e-9)
      #expect(try source.picture(at: time).index == Int64(index))
      #expect(time.nanoseconds == 0 || source.nextPictureTime(from: time) == time)
      time += .nanoseconds(1)
    }
  }

  @Test("a still is the picture shown last, at full size")
  func stillShowsTheSame() throws {
    let source = try PatternSource(size: PixelSize(width: 360, height: 640), frameRate: 30)
    _ = try source.picture(at: .seconds(2))
    let still = try source.still()
    #expect(still.pixelWidth == PatternSource.stillSize.width && still.pixelHeight == PatternSource.stillSize.height)
    #expect(PatternReader.read(still)?.mark.frameNumber == 60)
  }

  @Test("sizes that can't be painted are refused", arguments: [(0, 0), (63, 64), (62, 64), (-4, 100), (10_000, 64)])
  func refusesSizes(width: Int, height: Int) {
    let size = PixelSize(width: width, height: height)
    #expect(throws: SourceError.sizeNotSupported(size)) { try PatternSource(size: size) }
  }

  @Test("the checksum is CRC-16/CCITT-FALSE of both numbers")
  func checksum() {
    // The bytes are those of the text 12345678.
    #expect(PatternMark(frameNumber: 0x3132_3334, milliseconds: 0x3536_3738).checksum == 0xA12B)
  }

  @Test("one wrong block, a plain picture, or noise is no reading")
  func rejects() throws {
    let size = PixelSize(width: 360, height: 640)
    let good = PatternMark(frameNumber: 77, milliseconds: 12_345)
    for index in good.bits.indices {
      var bits = good.bits
      bits[index].toggle()
      #expect(PatternMark(bits: bits) == nil)
    }
    #expect(PatternMark(bits: good.bits) == good)
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<5 {
      let noise = (0..<size.width * size.height).map { _ in UInt8.random(in: 0...255, using: &generator) }
      #expect(
        noise.withUnsafeBufferPointer { PatternReader.read($0, bytesPerRow: size.width, size: size) } == nil)
    }
    for level in [0, 20, 128, 255] as [UInt8] {
      let plain = [UInt8](repeating: level, count: size.width * size.height)
      #expect(
        plain.withUnsafeBufferPointer { PatternReader.read($0, bytesPerRow: size.width, size: size) } == nil)
    }
  }

  @Test("a damaged picture gives the number that was painted, or none, wherever the damage is")
  func damagedPicture() throws {
    let size = PixelSize(width: 96, height: 64)
    let picture = try PatternSource(size: size, frameRate: 30).picture(at: .seconds(3)).buffer
    let plane = try #require(picture.plane(0))
    let luma = [UInt8](UnsafeRawBufferPointer(start: plane.base, count: plane.bytesPerRow * plane.height))
    let wanted = PatternReader.read(picture)?.mark
    #expect(wanted?.frameNumber == 90)
    for damaged in DecoderVerifier.damaged(luma, limit: 200) {
      let reading = damaged.withUnsafeBufferPointer {
        PatternReader.read($0, bytesPerRow: plane.bytesPerRow, size: size)
      }
      #expect(reading == nil || reading?.mark == wanted)
    }
  }

  @Test("a reader is given any length and size without a trap")
  func survivesNonsense() {
    let luma = [UInt8](repeating: 90, count: 100)
    for (width, height, stride) in [(18, 18, 18), (0, 0, 0), (-1, 5, 9), (20, 5, 20), (18, 18, 5)] {
      let size = PixelSize(width: width, height: height)
      #expect(luma.withUnsafeBufferPointer { PatternReader.read($0, bytesPerRow: stride, size: size) } == nil)
    }
  }

  @Test(
    "every picture is read after compression to 600 kbit/s, also when a stranger scales and pads it",
    arguments: [
      (360, 640, "null"), (216, 384, "scale=216:384"), (720, 1280, "scale=720:1280"),
      (640, 640, "scale=360:640,pad=640:640:140:0"), (480, 800, "scale=450:800,pad=480:800:20:0"),
    ])
  func survivesCompression(width: Int, height: Int, filter: String) throws {
    let size = PixelSize(width: 360, height: 640)
    let source = try PatternSource(size: size, frameRate: 30)
    let encoder = try HEVCEncoder(
      .init(size: size, frameRate: 30, bitrate: .kilobitsPerSecond(600), keyframeInterval: .seconds(2)))
    let count = 90
    let units = try (0..<count).map { index in
      let picture = try source.picture(at: source.nextPictureTime(from: .seconds(1) * index / 30))
      return try encoder.encode(picture.buffer).payload
    }
    let total = units.reduce(0) { $0 + $1.count }
    #expect(total * 8 < 600_000 * 3 * 5 / 4)
    let pictures = try decode(units, size: PixelSize(width: width, height: height), filter: filter)
    let numbers = pictures.map { picture in
      picture.withUnsafeBufferPointer {
        PatternReader.read($0, bytesPerRow: width, size: PixelSize(width: width, height: height))?.mark
          .frameNumber
      }
    }
    #expect(numbers == (0..<UInt32(count)).map { $0 })
  }

  private func bytes(_ buffer: CVPixelBuffer) throws -> [UInt8] {
    try (0..<3).flatMap { index in
      let plane = try #require(buffer.plane(index))
      return (0..<plane.height).flatMap { row in
        [UInt8](UnsafeRawBufferPointer(start: plane.base + row * plane.bytesPerRow, count: plane.width))
      }
    }
  }

  /// Luma planes of what `ffmpeg` makes of the units.
  private func decode(_ units: [[UInt8]], size: PixelSize, filter: String) throws -> [[UInt8]] {
    let input = try MediaFactory.newPath("hevc")
    let output = try MediaFactory.newPath("gray")
    try Data(units.flatMap(annexB)).write(to: URL(fileURLWithPath: input))
    let decoding = ["-vf", "\(filter),format=yuv420p,extractplanes=y", "-fps_mode", "passthrough", "-f", "rawvideo"]
    try CommandLineTool.run("ffmpeg", ["-v", "error", "-xerror", "-i", input] + decoding + [output])
    let all = [UInt8](try Data(contentsOf: URL(fileURLWithPath: output)))
    let count = size.width * size.height
    return stride(from: 0, to: all.count, by: count).map { Array(all[$0..<min($0 + count, all.count)]) }
  }
}

/// The units of a payload after start codes in place of lengths.
func annexB(_ payload: [UInt8]) -> [UInt8] {
  var result: [UInt8] = []
  var index = 0
  while index + 4 <= payload.count {
    let length = payload[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
    result += [0, 0, 0, 1] + payload[(index + 4)..<min(index + 4 + length, payload.count)]
    index += 4 + length
  }
  return result
}
