import PortableMedia
import Units

/// Parameter sets of an HEVC track, complete and checked.
package struct HEVCConfiguration: Hashable, Sendable {
  /// Video, sequence and picture parameter sets as NAL units, in the order VPS, SPS, PPS.
  package let parameterSets: [[UInt8]]
  /// Size of the pictures, from the sequence parameter set.
  package let size: PixelSize
  /// What MP4, MOV and Matroska keep them in: the HEVCDecoderConfigurationRecord of ISO/IEC 14496-15, 8.3.3.1.
  let record: [UInt8]

  private static let kinds: [(name: String, type: UInt8)] = [("VPS", 32), ("SPS", 33), ("PPS", 34)]
  /// More than any encoder writes (the standard allows 64 picture parameter sets).
  private static let maximumSets = 16

  /// Takes the sets in any order, repeats dropped.
  ///
  /// Throws `.parameterSetsMissing` when one of the three kinds is absent or empty, `.malformedData` when the sequence
  /// parameter set can't be read or the sets are too many or too long.
  package init(parameterSets: [[UInt8]]) throws(MediaError) {
    var ordered: [[UInt8]] = []
    for (name, type) in Self.kinds {
      let sets = parameterSets.reduce(into: [[UInt8]]()) { sets, set in
        guard set.count > 2, VideoCoding.hevc.unitType(firstByte: set[0]) == type, !sets.contains(set) else { return }
        sets.append(set)
      }
      guard !sets.isEmpty else { throw MediaError(.parameterSetsMissing, while: .opening, "no \(name)") }
      guard sets.count <= Self.maximumSets else {
        throw MediaError(.malformedData, while: .opening, "\(sets.count) \(name)")
      }
      ordered += sets
    }
    self.parameterSets = ordered
    do throws(BitstreamError) {
      let record = HEVCConfigurationRecord(parameterSets: ordered)
      let sequence = try record.sequence()
      size = PixelSize(width: sequence.width, height: sequence.height)
      self.record = try record.serialized()
    } catch {
      throw MediaError(.malformedData, while: .opening, "a parameter set is malformed: \(error)")
    }
  }
}
