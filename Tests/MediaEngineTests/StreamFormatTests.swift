import Foundation
import PortableMedia
import TestSupport
import Testing
import Units

@testable import MediaEngine

/// The forms in which pictures go through pipes, by literal bytes and by what ffmpeg makes of them.
@Suite struct StreamFormatTests {
  /// A target in memory that may be full.
  private final class Memory: MuxerTarget {
    let path = "memory"
    let isSeekable = false
    var bytes: [UInt8] = []
    var capacity = Int.max

    func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
      guard self.bytes.count + bytes.count <= capacity else { return ENOSPC }
      self.bytes += bytes
      return 0
    }

    func seek(to offset: Int64, from origin: Int32) -> Int64 { Int64(-ESPIPE) }
    func markWhole() {}
    func cutToWhole() {}
  }

  private func annexB(_ unit: [UInt8], _ sets: [[UInt8]]) throws -> (bytes: [UInt8], isSync: Bool) {
    try unit.withUnsafeBytes { try AnnexB.bytes(of: $0, parameterSets: sets) }
  }

  @Test("Units get start codes, and a sync unit without parameter sets gets them in front")
  func startCodes() throws {
    // Types 32 (VPS), 19 (IDR) and 1 (trailing picture), in bits 1 to 6 of the first byte (H.265, 7.3.1.2).
    let idr: [UInt8] = [0, 0, 0, 3, 0x26, 1, 0xaf]
    let trailing: [UInt8] = [0, 0, 0, 3, 0x02, 1, 0xd0, 0, 0, 0, 4, 0x50, 1, 9, 9]
    let alone = try annexB(idr, [[0x40, 1, 7]])
    #expect(alone.isSync && alone.bytes == [0, 0, 0, 1, 0x40, 1, 7, 0, 0, 0, 1, 0x26, 1, 0xaf])
    let inside = try annexB([0, 0, 0, 3, 0x40, 1, 8] + idr, [[0x40, 1, 7]])
    #expect(inside.isSync && inside.bytes == [0, 0, 0, 1, 0x40, 1, 8, 0, 0, 0, 1, 0x26, 1, 0xaf])
    let later = try annexB(trailing, [[0x40, 1, 7]])
    #expect(!later.isSync && later.bytes == [0, 0, 0, 1, 0x02, 1, 0xd0, 0, 0, 0, 1, 0x50, 1, 9, 9])
    for end in 0..<trailing.count where end != 7 {
      #expect(throws: MediaError.self) { try annexB(Array(trailing.prefix(end)), []) }
    }
  }

  @Test("A picture is its three planes without padding, and one of another size is scaled into the first's")
  func planes() throws {
    let pools = PicturePools()
    let small = try pools.picture(width: 6, height: 4, format: kCVPixelFormatType_420YpCbCr8Planar)
    let planes = try PlanarBytes(small)
    var next: UInt8 = 16
    for plane in [planes.y, planes.u, planes.v] {
      for row in 0..<Int(plane.height) {
        for column in 0..<Int(plane.width) {
          plane.at(x: column, y: row).pointee = next
          next += 1
        }
      }
    }
    let form = PictureBytes(size: PixelSize(width: 6, height: 4))
    var bytes: [UInt8] = []
    try form.append(small, to: &bytes)
    #expect(bytes == Array(16..<52) && form.count == 36)
    let large = try pools.picture(width: 12, height: 8, format: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
    for index in 0..<2 {
      let plane = try #require(PlaneBytes(large, index))
      let rowBytes = Int(plane.stride) * Int(plane.height)
      plane.base.initialize(repeating: index == 0 ? 90 : 140, count: rowBytes)
    }
    try form.append(large, to: &bytes)
    #expect(bytes.dropFirst(36) == ArraySlice(Array(repeating: 90, count: 24) + Array(repeating: 140, count: 12)))
    #expect(
      form.y4mHeader(rate: 24)
        == "YUV4MPEG2 W6 H4 F24:1 Ip A1:1 C420mpeg2 XYSCSS=420MPEG2 XCOLORRANGE=LIMITED\n")
    #expect(PictureBytes(size: PixelSize(width: 5, height: 3)).count == 15 + 12)
  }

  @Test("NUT keeps every unit, its time and what is a keyframe, and can be read while it is written")
  func nut() throws {
    let path = try MediaFactory.path(.hevc)
    let reader = try AccessUnitReader(path: path)
    let memory = Memory()
    let writer = try NUTWriter(
      target: memory, configuration: HEVCConfiguration(parameterSets: reader.parameterSets),
      frameInterval: .milliseconds(40))
    var times: [Double] = []
    var written = 0
    while let unit = try reader.next() {
      let stretch = try unit.bytes.withUnsafeBytes { try AnnexB.bytes(of: $0, parameterSets: reader.parameterSets) }
      // A source with uneven steps.
      let time = Duration.milliseconds(1000 + times.count * 40 + (times.count % 3) * 5)
      try writer.append(stretch.bytes, isSync: stretch.isSync, presentation: Instant(nanoseconds: 0) + time)
      #expect(memory.bytes.count > written, "each unit is handed over at once")
      written = memory.bytes.count
      times.append((time - .seconds(1)) / .seconds(1))
    }
    let cut = memory.bytes
    try writer.finish()
    for bytes in [cut, memory.bytes] {
      let copy = try MediaFactory.newPath("nut")
      try Data(bytes).write(to: URL(filePath: copy))
      let stamps = try MediaInspector.stamps(copy)
      #expect(stamps.count == times.count)
      #expect(zip(stamps, times).allSatisfy { abs($0 - $1) < 0.0001 })
      // ffmpeg looks for the last time at the end of a file, where a stream that is cut has none.
      if bytes.count == memory.bytes.count { #expect(try MediaInspector.complaints(copy) == "") }
      #expect(try MediaInspector.pictureCount(copy) == times.count)
    }
  }

  @Test("A target that takes no more is an error with the system's words, and stays one")
  func fullTarget() throws {
    let reader = try AccessUnitReader(path: MediaFactory.path(.hevc))
    let memory = Memory()
    let writer = try NUTWriter(
      target: memory, configuration: HEVCConfiguration(parameterSets: reader.parameterSets),
      frameInterval: .milliseconds(40))
    memory.capacity = memory.bytes.count
    for second in 1...2 {
      expectCause(.storageFull) {
        let time = Instant(nanoseconds: 0) + .seconds(second)
        try writer.append(Array(repeating: 7, count: 100), isSync: true, presentation: time)
      }
    }
  }
}
