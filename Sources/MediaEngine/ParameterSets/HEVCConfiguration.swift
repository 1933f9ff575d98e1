import Units

/// Parameter sets of an HEVC track, complete and checked, and the box that MP4, MOV and Matroska keep them in.
package struct HEVCConfiguration: Hashable, Sendable {
  /// Video, sequence and picture parameter sets as NAL units, in the order VPS, SPS, PPS.
  package let parameterSets: [[UInt8]]
  /// Size of the pictures, from the sequence parameter set.
  package let size: PixelSize
  /// The HEVCDecoderConfigurationRecord of ISO/IEC 14496-15, 8.3.3.1.
  let record: [UInt8]

  private static let types: [UInt8] = [32, 33, 34]
  /// More than any encoder writes (the standard allows 64 picture parameter sets), and little enough for the record.
  private static let maximumSets = 16
  private static let maximumSetLength = Int(UInt16.max)

  /// Takes the sets in any order, repeats dropped.
  ///
  /// Throws `.parameterSetsMissing` when one of the three kinds is absent or empty, `.malformedData` when the sequence
  /// parameter set can't be read.
  package init(parameterSets: [[UInt8]]) throws(MediaError) {
    let byType = Self.types.map { type in
      parameterSets.reduce(into: [[UInt8]]()) { sets, set in
        guard set.count > 2, VideoCoding.hevc.unitType(firstByte: set[0]) == type, !sets.contains(set) else { return }
        sets.append(set)
      }
    }
    for (name, sets) in zip(["VPS", "SPS", "PPS"], byType) {
      guard !sets.isEmpty else { throw MediaError(.parameterSetsMissing, while: .opening, "no \(name)") }
      guard sets.count <= Self.maximumSets, sets.allSatisfy({ $0.count <= Self.maximumSetLength }) else {
        throw MediaError(.malformedData, while: .opening, "the \(name) are too many or too long")
      }
    }
    let sequence = try HEVCSequence(unit: byType[1][0])
    self.parameterSets = byType.flatMap { $0 }
    size = sequence.size
    record = Self.record(sequence, byType)
  }

  private static func record(_ sequence: HEVCSequence, _ byType: [[[UInt8]]]) -> [UInt8] {
    var record: [UInt8] = [1]
    record += sequence.profileTierLevel
    record += [0xf0, 0]  // min_spatial_segmentation_idc: not stated
    record.append(0xfc)  // parallelismType: not stated
    record.append(0xfc | sequence.chromaFormat)
    record.append(0xf8 | (sequence.lumaBitDepth - 8))
    record.append(0xf8 | (sequence.chromaBitDepth - 8))
    record += [0, 0]  // avgFrameRate: not stated
    let nested: UInt8 = sequence.isTemporallyNested ? 1 : 0
    let lengthSize = UInt8(LengthPrefixedUnits.prefixLength - 1)
    record.append(sequence.temporalLayers << 3 | nested << 2 | lengthSize)
    record.append(UInt8(byType.count))
    for (type, sets) in zip(types, byType) {
      record.append(0x80 | type)  // complete: 'hvc1' samples carry none
      record += bigEndian(sets.count)
      for set in sets {
        record += bigEndian(set.count)
        record += set
      }
    }
    return record
  }

  private static func bigEndian(_ value: Int) -> [UInt8] {
    let value = UInt16(truncatingIfNeeded: value)
    return [UInt8(value >> 8), UInt8(value & 0xff)]
  }
}
