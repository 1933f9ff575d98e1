/// HEVCDecoderConfigurationRecord, the content of `hvcC`: ISO/IEC 14496-15, 8.3.3.1.
///
/// Only what a decoder needs is kept. Fields that say "not stated" as zero (segmentation, parallelism, frame rate) are
/// written so.
package struct HEVCConfigurationRecord: Hashable, Sendable {
  /// NAL units in the order in which they stand in the record.
  package var parameterSets: [[UInt8]]
  /// Bytes of the length before each NAL unit of a sample: 1, 2 or 4.
  package var lengthSize: Int

  static let maximumSetLength = Int(UInt16.max)

  package init(parameterSets: [[UInt8]], lengthSize: Int = 4) {
    self.parameterSets = parameterSets
    self.lengthSize = lengthSize
  }

  /// Reads a record. Bytes after it are ignored, as readers of newer versions must.
  package init(parsing bytes: [UInt8]) throws(BitstreamError) {
    var reader = ByteReader(bytes)
    guard try reader.byte() == 1 else { throw .outOfRange("configurationVersion") }
    _ = try reader.take(20)
    lengthSize = Int(try reader.byte() & 3) + 1
    guard lengthSize != 3 else { throw .outOfRange("lengthSizeMinusOne") }
    parameterSets = []
    let arrays = try reader.byte()
    for _ in 0..<arrays {
      let type = try reader.byte() & 0x3F
      let count = try reader.short()
      for _ in 0..<count {
        let unit = try reader.unit()
        guard NALUnitType.hevc(unit) == type else { throw .unexpectedUnit }
        parameterSets.append(unit)
      }
    }
  }

  /// The first sequence parameter set.
  package func sequence() throws(BitstreamError) -> HEVCSequenceParameterSet {
    guard let unit = parameterSets.first(where: { NALUnitType.hevc($0) == NALUnitType.hevcSequence }) else {
      throw .unexpectedUnit
    }
    return try HEVCSequenceParameterSet(unit: unit)
  }

  /// The record's bytes. Needs a readable sequence parameter set and sets of at most 65 535 bytes.
  package func serialized() throws(BitstreamError) -> [UInt8] {
    let sequence = try sequence()
    guard parameterSets.allSatisfy({ $0.count <= Self.maximumSetLength }) else { throw .outOfRange("nalUnitLength") }
    var bytes: [UInt8] = [1]
    bytes += sequence.profileTierLevel
    bytes += [0xF0, 0x00, 0xFC]  // min_spatial_segmentation_idc, parallelismType: not stated
    bytes.append(0xFC | UInt8(truncatingIfNeeded: sequence.chromaFormat))
    bytes.append(0xF8 | UInt8(truncatingIfNeeded: sequence.lumaBitDepth - 8))
    bytes.append(0xF8 | UInt8(truncatingIfNeeded: sequence.chromaBitDepth - 8))
    bytes.append(short: 0)  // avgFrameRate: not stated
    let layers = sequence.temporalLayers << 3 | (sequence.isTemporallyNested ? 4 : 0) | (lengthSize - 1)
    bytes.append(UInt8(truncatingIfNeeded: layers))
    var types: [UInt8] = []
    for type in parameterSets.compactMap(NALUnitType.hevc) where !types.contains(type) { types.append(type) }
    bytes.append(UInt8(truncatingIfNeeded: types.count))
    for type in types {
      let units = parameterSets.filter { NALUnitType.hevc($0) == type }
      bytes.append(0x80 | type)  // complete: an 'hvc1' stream carries no further ones
      bytes.append(short: units.count)
      for unit in units {
        bytes.append(short: unit.count)
        bytes += unit
      }
    }
    return bytes
  }
}
