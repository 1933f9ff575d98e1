/// AVCDecoderConfigurationRecord, the content of `avcC`: ISO/IEC 14496-15, 5.3.3.1.
package struct AVCConfigurationRecord: Hashable, Sendable {
  /// NAL units: sequence parameter sets, then picture parameter sets.
  package var parameterSets: [[UInt8]]
  /// Bytes of the length before each NAL unit of a sample: 1, 2 or 4.
  package var lengthSize: Int

  private static let maximumSequences = 31
  private static let maximumPictures = 255

  package init(parameterSets: [[UInt8]], lengthSize: Int = 4) {
    self.parameterSets = parameterSets
    self.lengthSize = lengthSize
  }

  /// Reads a record. The fields that only some profiles have after the parameter sets are ignored: the sequence
  /// parameter set says the same.
  package init(parsing bytes: [UInt8]) throws(BitstreamError) {
    var reader = ByteReader(bytes)
    guard try reader.byte() == 1 else { throw .outOfRange("configurationVersion") }
    _ = try reader.take(3)
    lengthSize = Int(try reader.byte() & 3) + 1
    guard lengthSize != 3 else { throw .outOfRange("lengthSizeMinusOne") }
    parameterSets = []
    for _ in 0..<(try reader.byte() & 0x1F) {
      let unit = try reader.unit()
      guard NALUnitType.h264(unit) == NALUnitType.h264Sequence else { throw .unexpectedUnit }
      parameterSets.append(unit)
    }
    for _ in 0..<(try reader.byte()) {
      let unit = try reader.unit()
      guard NALUnitType.h264(unit) == NALUnitType.h264Picture else { throw .unexpectedUnit }
      parameterSets.append(unit)
    }
  }

  /// The first sequence parameter set.
  package func sequence() throws(BitstreamError) -> H264SequenceParameterSet {
    guard let unit = parameterSets.first(where: { NALUnitType.h264($0) == NALUnitType.h264Sequence }) else {
      throw .unexpectedUnit
    }
    return try H264SequenceParameterSet(unit: unit)
  }

  /// The record's bytes. Needs a readable sequence parameter set, and sets not more or longer than the record can
  /// count.
  package func serialized() throws(BitstreamError) -> [UInt8] {
    let sequence = try sequence()
    let sequences = parameterSets.filter { NALUnitType.h264($0) == NALUnitType.h264Sequence }
    let pictures = parameterSets.filter { NALUnitType.h264($0) == NALUnitType.h264Picture }
    guard sequences.count <= Self.maximumSequences, pictures.count <= Self.maximumPictures else {
      throw .outOfRange("numOfParameterSets")
    }
    guard parameterSets.allSatisfy({ $0.count <= HEVCConfigurationRecord.maximumSetLength }) else {
      throw .outOfRange("nalUnitLength")
    }
    var bytes: [UInt8] = [1, sequence.profile, sequence.constraints, sequence.level]
    bytes.append(0xFC | UInt8(truncatingIfNeeded: lengthSize - 1))
    for (mark, units) in [(UInt8(0xE0), sequences), (0, pictures)] {
      bytes.append(mark | UInt8(truncatingIfNeeded: units.count))
      for unit in units {
        bytes.append(short: unit.count)
        bytes += unit
      }
    }
    if H264SequenceParameterSet.highProfiles.contains(sequence.profile) {
      bytes.append(0xFC | UInt8(truncatingIfNeeded: sequence.chromaFormat))
      bytes.append(0xF8 | UInt8(truncatingIfNeeded: sequence.lumaBitDepth - 8))
      bytes.append(0xF8 | UInt8(truncatingIfNeeded: sequence.chromaBitDepth - 8))
      bytes.append(0)  // numOfSequenceParameterSetExt
    }
    return bytes
  }
}
