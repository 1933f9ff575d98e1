/// NAL units behind start codes (ITU-T H.265, Annex B): what pipes and raw `.hevc` files carry.
package enum AnnexB {
  static let startCode: [UInt8] = [0, 0, 0, 1]

  /// - Parameters:
  ///   - unit: NAL units of one access unit, each behind its length in 4 bytes.
  ///   - parameterSets: put in front of a sync unit that has none inside.
  /// - Returns: the unit as a stretch of a byte stream, and whether it is a sync unit.
  ///
  /// Throws `.malformedData` when lengths and units don't fit.
  package static func bytes(
    of unit: UnsafeRawBufferPointer, parameterSets: [[UInt8]]
  ) throws(MediaError) -> (bytes: [UInt8], isSync: Bool) {
    let outline = try AccessUnitOutline(unit, coding: .hevc, while: .writing)
    let sets = outline.isSync && outline.parameterSets.isEmpty ? parameterSets : []
    var bytes: [UInt8] = []
    bytes.reserveCapacity(unit.count + sets.reduce(0) { $0 + $1.count + startCode.count })
    for set in sets {
      bytes += startCode
      bytes += set
    }
    for range in LengthPrefixedUnits(bytes: unit) {
      bytes += startCode
      bytes += unit[range]
    }
    return (bytes, outline.isSync)
  }
}
