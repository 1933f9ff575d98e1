import Foundation
import MediaEngine
import PortableMedia
import TestSupport
import Testing
import Units

@testable import MediaEncoding

@Suite("HEVC encoder")
struct HEVCEncoderTests {
  private static let size = PixelSize(width: 360, height: 640)

  private func encoder(
    _ size: PixelSize = size, bitrate: Int64 = 800, keyframeInterval: Duration? = nil, hashes: Bool = false
  ) throws -> HEVCEncoder {
    try HEVCEncoder(
      .init(
        size: size, frameRate: 30, bitrate: .kilobitsPerSecond(bitrate), keyframeInterval: keyframeInterval,
        writesPictureHashes: hashes))
  }

  /// Writes units to a plain HEVC file for tools to read.
  private func write(_ units: [EncodedPicture]) throws -> String {
    let path = try MediaFactory.newPath("hevc")
    try Data(try NALList.annexB(units.map(\.payload))).write(to: URL(fileURLWithPath: path))
    return path
  }

  @Test("makes one unit of each picture at once, and a stranger decodes every one of them in silence")
  func onePictureOneUnit() throws {
    let pictures = TestPictures.first
    let encoder = try encoder()
    let units = try (0..<40).map { try encoder.encode(try pictures.picture($0)) }
    #expect(units.map(\.isSync) == [true] + Array(repeating: false, count: 39))
    let path = try write(units)
    #expect(try MediaInspector.complaints(path) == "")
    #expect(try MediaInspector.pictureCount(path) == 40)
    #expect(try MediaInspector.videoField("width", path) == "360")
    #expect(try MediaInspector.videoField("has_b_frames", path) == "0")
  }

  @Test("the stream states its colours, so that no player has to guess them, and a stranger shows them as they were")
  func statesColours() throws {
    // Green of 0, 215, 0 by BT.601.
    let picture = try TestPictures.flat(Self.size, luma: 124, cb: 66, cr: 49)
    let path = try write([try encoder().encode(picture)])
    #expect(try MediaInspector.videoField("color_range", path) == "tv")
    #expect(try MediaInspector.videoField("color_space", path) == "smpte170m")
    #expect(try MediaInspector.videoField("color_primaries", path) == "bt709")
    #expect(try MediaInspector.videoField("color_transfer", path) == "bt709")
    for (value, wanted) in zip(try shownColour(path, x: 100, y: 100), [0, 215, 0]) { #expect(abs(value - wanted) <= 6) }
  }

  @Test(
    "colours of a file of either matrix and range are the same in the stream made of it",
    arguments: [("bt709", "pc"), ("bt709", "tv"), ("smpte170m", "pc"), ("smpte170m", "tv")])
  func keepsColours(matrix: String, range: String) throws {
    let source = try MediaFactory.newPath("mp4")
    let conversion = "scale=out_color_matrix=\(matrix == "bt709" ? "bt709" : "bt601"):out_range=\(range),format=yuv"
    let format = range == "pc" ? "j420p" : "420p"
    try CommandLineTool.run(
      "ffmpeg",
      [
        "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=s=640x360:r=30:d=0.2", "-vf", conversion + format,
        "-colorspace", matrix, "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", range,
        "-c:v", "libx264", "-qp", "8", source,
      ])
    let frames = try VideoFileReader(path: source, loops: false)
    let picture = try #require(try frames.next()).picture
    let encoder = try encoder(PixelSize(width: 640, height: 360), bitrate: 8000)
    let path = try write([try encoder.encode(picture)])
    let jpeg = try MediaFactory.newPath("jpg")
    try Data(try JPEGEncoder.encode(picture)).write(to: URL(fileURLWithPath: jpeg))
    let heic = try StillDecoder.decode(try HEICEncoder.encode(picture).bytes)
    let heicRGB = try PictureConverter().rgba(heic.picture)
    // Middles of the test picture's bars.
    for (x, y) in [(440, 100), (200, 100), (120, 100), (520, 100)] {
      let wanted = try shownColour(source, x: x, y: y)
      #expect(wanted.max() != wanted.min())
      let made = [
        try shownColour(path, x: x, y: y), try shownColour(jpeg, x: x, y: y),
        heicRGB[(4 * (640 * y + x))...].prefix(3).map { Int($0) },
      ]
      for colour in made {
        #expect(zip(colour, wanted).allSatisfy { abs($0 - $1) <= 6 }, "\(colour) at \(x), \(y), is \(wanted)")
      }
    }
  }

  /// Red, green and blue of a place, as `ffmpeg` shows it.
  private func shownColour(_ path: String, x: Int, y: Int) throws -> [Int] {
    let output = try MediaFactory.newPath("rgb")
    let filter = "scale=in_color_matrix=auto:flags=accurate_rnd+full_chroma_int,format=rgb24,crop=2:2:\(x):\(y)"
    try CommandLineTool.run(
      "ffmpeg", ["-v", "error", "-y", "-i", path, "-frames:v", "1", "-vf", filter, "-f", "rawvideo", output])
    return try Data(contentsOf: URL(fileURLWithPath: output)).prefix(3).map { Int($0) }
  }

  @Test("a forced sync unit carries VPS, SPS and PPS before its IDR picture, and decodes without what came before")
  func forcedSync() throws {
    let pictures = TestPictures.first
    let encoder = try encoder()
    let units = try (0..<30).map { try encoder.encode(try pictures.picture($0), forcesSync: $0 == 12) }
    #expect(units.indices.filter { units[$0].isSync } == [0, 12])
    for index in [0, 12] {
      let types = try NALList.types(units[index].payload)
      #expect(Array(types.prefix(3)) == [NALList.vps, NALList.sps, NALList.pps])
      #expect(types.dropFirst(3).allSatisfy(NALList.idr.contains), "\(types)")
    }
    #expect(try units[13...].allSatisfy { try NALList.types($0.payload) == [1] })
    let path = try write(Array(units[12...]))
    #expect(try MediaInspector.complaints(path) == "")
    #expect(try MediaInspector.pictureCount(path) == 18)
  }

  @Test("sync units come as often as configured, counted anew from a forced one")
  func periodicSync() throws {
    let pictures = TestPictures(size: PixelSize(width: 64, height: 96))
    let encoder = try encoder(pictures.size, keyframeInterval: .seconds(1))
    let units = try (0..<100).map { try encoder.encode(try pictures.picture($0), forcesSync: $0 == 40) }
    #expect(units.indices.filter { units[$0].isSync } == [0, 30, 40, 70])
  }

  @Test("a new bit rate is met within ten pictures, down and up")
  func followsTheBitrate() throws {
    let pictures = TestPictures.first
    let encoder = try encoder(bitrate: 1500)
    func rate(_ range: Range<Int>) throws -> Double {
      let bytes = try range.reduce(0) { try $0 + encoder.encode(try pictures.picture($1)).payload.count }
      return Double(bytes) * 8 * 30 / Double(range.count) / 1000
    }
    _ = try rate(0..<60)
    for (step, target) in [500, 2000, 700].enumerated() {
      encoder.targetBitrate = .kilobitsPerSecond(Int64(target))
      let start = 60 + 40 * step
      _ = try rate(start..<start + 10)
      let settled = try rate(start + 10..<start + 40)
      #expect(abs(settled - Double(target)) < Double(target) * 0.2, "\(settled) kbit/s, asked \(target)")
    }
  }

  @Test("a scene cut costs below half a second of the bit rate")
  func scenesCutCheaply() throws {
    let scenes = [TestPictures.first, TestPictures.second]
    let encoder = try encoder(bitrate: 600)
    var sizes: [Int] = []
    for index in 0..<120 {
      sizes.append(try encoder.encode(try scenes[index / 30 % 2].picture(index)).payload.count)
    }
    for cut in [30, 60, 90] { #expect(sizes[cut] * 8 < 300_000, "\(sizes[cut]) bytes") }
    // 4 s at 600 kbit/s, and a fifth.
    let total: Int = sizes.reduce(0, +)
    #expect(total < 360_000, "\(total) bytes")
  }

  @Test("picture hashes are written when asked for, and expose a damaged picture")
  func pictureHashes() throws {
    let pictures = TestPictures(size: PixelSize(width: 128, height: 128))
    let encoder = try encoder(pictures.size, hashes: true)
    var units = try (0..<10).map { try encoder.encode(try pictures.picture($0)) }
    #expect(try units.allSatisfy { try NALList.types($0.payload).last == NALList.suffixSEI })
    func complaints(_ units: [EncodedPicture]) throws -> String {
      try CommandLineTool.attempt(
        "ffmpeg", ["-v", "error", "-err_detect", "crccheck+explode", "-i", try write(units), "-f", "null", "-"]
      ).errors
    }
    #expect(try complaints(units) == "")
    units.remove(at: 4)
    #expect(try complaints(units) != "")
  }

  @Test("the same pictures give the same bytes, whatever else is encoded meanwhile")
  func isDeterministic() async throws {
    let size = Self.size
    let all = try await withThrowingTaskGroup(of: [[UInt8]].self) { group in
      for _ in 0..<3 {
        group.addTask {
          let pictures = TestPictures.first
          let encoder = try HEVCEncoder(.init(size: size, frameRate: 30, bitrate: .kilobitsPerSecond(800)))
          return try (0..<20).map { try encoder.encode(try pictures.picture($0)).payload }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(all.count == 3 && all.allSatisfy { $0 == all[0] })
  }

  @Test("pictures of another format or size, sizes out of range, and use after closing are typed errors")
  func misuse() throws {
    let encoder = try encoder(PixelSize(width: 64, height: 64))
    let nv12 = try #require(
      CVPixelBuffer(width: 64, height: 64, pixelFormat: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange))
    let small = try TestPictures.flat(PixelSize(width: 66, height: 64), luma: 90)
    let right = try TestPictures.flat(PixelSize(width: 64, height: 64), luma: 90)
    #expect(cause { _ = try encoder.encode(nv12) } == .pixelFormatNotSupported)
    #expect(cause { _ = try encoder.encode(small) } == .sizeNotSupported)
    #expect(cause { _ = try encoder.encode(right) } == nil)
    encoder.close()
    encoder.close()
    #expect(cause { _ = try encoder.encode(right) } == .finished)
    for (width, height) in [(0, 64), (63, 64), (64, 65), (-2, 64), (16_384, 64), (.max, .max)] {
      let size = PixelSize(width: width, height: height)
      #expect(cause { _ = try self.encoder(size) } == .sizeNotSupported, "\(width)x\(height)")
    }
  }

  @Test("frame rates that make no sense are taken as some rate", arguments: [Double.nan, .infinity, -1, 0, 1e300])
  func survivesFrameRates(frameRate: Double) throws {
    let size = PixelSize(width: 64, height: 64)
    let encoder = try HEVCEncoder(
      .init(size: size, frameRate: frameRate, bitrate: .bitsPerSecond(.max), keyframeInterval: .seconds(Int64.max)))
    #expect(try encoder.encode(try TestPictures.flat(size, luma: 90)).isSync)
  }

  private func cause(_ body: () throws -> Void) -> MediaError.Cause? {
    do {
      try body()
      return nil
    } catch {
      return (error as? MediaError)?.cause
    }
  }

  @Test("closing frees threads and memory at once")
  func releases() throws {
    let picture = try TestPictures.flat(PixelSize(width: 64, height: 64), luma: 90)
    let before = ProcessResources.now().threads.count
    var most = 0
    for _ in 0..<40 {
      let encoder = try encoder(PixelSize(width: 64, height: 64))
      _ = try encoder.encode(picture)
      most = max(most, ProcessResources.now().threads.count)
      encoder.close()
    }
    // Other tests of the process run encoders of their own meanwhile; 40 leaked ones would stand out all the same.
    #expect(most - before < 40, "\(before) threads, at most \(most)")
  }
}
