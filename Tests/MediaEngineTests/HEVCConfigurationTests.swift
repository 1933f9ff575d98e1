import Foundation
import TestSupport
import Testing
import Units

@testable import MediaEngine

@Suite struct HEVCConfigurationTests {
  @Test("the record is what FFmpeg writes, but for fields that may say nothing")
  func record() throws {
    for kind in [MediaFactory.Kind.hevc, .hevcBFrames] {
      let reader = try AccessUnitReader(path: MediaFactory.path(kind))
      let ours = try HEVCConfiguration(parameterSets: reader.parameterSets)
      #expect(ours.size == PixelSize(width: 160, height: 120))
      var theirs = try extradata(MediaFactory.path(kind))
      // An array of supplemental information, which x265 adds and we leave out.
      theirs = withoutSupplementalArray(theirs)
      #expect(ours.record.count == theirs.count)
      // avgFrameRate (bytes 19 and 20), parallelismType (15) and min_spatial_segmentation_idc (13 and 14) may be 0.
      let free: Set = [13, 14, 15, 19, 20]
      for index in ours.record.indices where !free.contains(index) && index < theirs.count {
        // array_completeness depends on how the other muxer was called.
        #expect(ours.record[index] & 0x7f == theirs[index] & 0x7f, "byte \(index)")
      }
    }
  }

  @Test("missing and empty parameter sets are refused")
  func missing() throws {
    let sets = try AccessUnitReader(path: MediaFactory.path(.hevc)).parameterSets
    for index in sets.indices {
      var some = sets
      some.remove(at: index)
      expectCause(.parameterSetsMissing) { try HEVCConfiguration(parameterSets: some) }
      some = sets
      some[index] = []
      expectCause(.parameterSetsMissing) { try HEVCConfiguration(parameterSets: some) }
    }
    #expect(try HEVCConfiguration(parameterSets: sets.reversed() + sets).parameterSets.count == sets.count)
  }

  @Test("a damaged sequence parameter set is refused or read, and never traps")
  func damaged() throws {
    let sets = try AccessUnitReader(path: MediaFactory.path(.hevc)).parameterSets
    let index = try #require(sets.firstIndex { VideoCoding.hevc.unitType(firstByte: $0[0]) == 33 })
    for count in 0..<sets[index].count / 2 {
      var cut = sets
      cut[index] = Array(sets[index].prefix(count))
      #expect(throws: MediaError.self) { try HEVCConfiguration(parameterSets: cut) }
    }
    for bit in 0..<sets[index].count * 8 {
      var flipped = sets
      flipped[index][bit / 8] ^= 0x80 >> UInt8(bit % 8)
      _ = try? HEVCConfiguration(parameterSets: flipped)
    }
  }

  /// The payload of the file's 'hvcC' box.
  private func extradata(_ path: String) throws -> [UInt8] {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let type = Array("hvcC".utf8)
    let index = try #require(bytes.indices.first { bytes[$0...].starts(with: type) })
    let length = bytes[(index - 4)..<index].reduce(0) { $0 << 8 | Int($1) }
    return Array(bytes[(index + 4)..<(index - 4 + length)])
  }

  private func withoutSupplementalArray(_ record: [UInt8]) -> [UInt8] {
    guard let start = (23..<record.count - 4).first(where: { record[$0] & 0x3f == 39 && record[$0 + 1] == 0 }) else {
      return record
    }
    let length = Int(record[start + 3]) << 8 | Int(record[start + 4])
    var rest = record
    rest[22] -= 1
    rest.removeSubrange(start..<start + 5 + length)
    return rest
  }
}
