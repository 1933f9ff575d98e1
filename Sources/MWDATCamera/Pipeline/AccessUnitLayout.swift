/// Where the parts of an HEVC access unit lie that travel with their lengths in 4 bytes (ISO/IEC 14496-15, 4.3.3).
package struct AccessUnitLayout: Hashable, Sendable {
  /// Types of NAL units, ITU-T H.265, table 7-1.
  private enum NALType {
    static let slices: ClosedRange<UInt8> = 0...31
    static let randomAccessSlices: ClosedRange<UInt8> = 16...21
    static let parameterSets: ClosedRange<UInt8> = 32...34
    static let delimiter: UInt8 = 35
  }

  /// VPS, SPS and PPS that the unit begins with, without their lengths.
  package var parameterSets: [Range<Int>] = []
  /// Where the picture begins: the length of the first NAL unit that is neither parameter set nor delimiter.
  package var pictureStart = 0
  /// Whether the picture's first slice is one that decoding can begin with.
  package var isRandomAccess = false

  /// Nil when lengths and bytes don't fit, or there is no picture: what came from outside is not what it says it is.
  package init?(_ payload: [UInt8]) {
    var offset = 0
    var headEnd: Int?
    var hasSlice = false
    while offset < payload.count {
      guard payload.count - offset > 4 else { return nil }
      let length = payload[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
      let start = offset + 4
      guard length > 1, length <= payload.count - start else { return nil }
      let type = payload[start] >> 1 & 0x3F
      if headEnd == nil, NALType.parameterSets.contains(type) {
        parameterSets.append(start..<start + length)
      } else if headEnd == nil, type != NALType.delimiter {
        headEnd = offset
      }
      if NALType.slices.contains(type), !hasSlice {
        hasSlice = true
        isRandomAccess = NALType.randomAccessSlices.contains(type)
      }
      offset = start + length
    }
    guard let headEnd, hasSlice else { return nil }
    pictureStart = headEnd
  }
}
