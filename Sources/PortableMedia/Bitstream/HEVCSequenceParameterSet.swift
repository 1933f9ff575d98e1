/// What this project needs of an HEVC sequence parameter set: ITU-T H.265, 7.3.2.2.1, up to the bit depths.
package struct HEVCSequenceParameterSet: Hashable, Sendable {
  /// sps_max_sub_layers_minus1 + 1.
  package var temporalLayers: Int
  /// sps_temporal_id_nesting_flag.
  package var isTemporallyNested: Bool
  /// The twelve bytes from general_profile_space to general_level_idc (7.3.3), which `hvcC` repeats as they are.
  package var profileTierLevel: [UInt8]
  /// 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
  package var chromaFormat: Int
  package var lumaBitDepth: Int
  package var chromaBitDepth: Int
  /// Width in luma samples inside the conformance window.
  package var width: Int
  /// Height in luma samples inside the conformance window.
  package var height: Int

  /// Reads a whole NAL unit, header included, without start code or length.
  package init(unit: [UInt8]) throws(BitstreamError) {
    guard unit.count >= 2 else { throw .truncated }
    guard NALUnitType.hevc(unit) == NALUnitType.hevcSequence, unit[0] & 0x81 == 0, unit[1] >> 3 == 0 else {
      throw .unexpectedUnit
    }
    var reader = BitReader(payload: unit[2...])
    try reader.skip(4)  // sps_video_parameter_set_id
    let subLayers = Int(try reader.bits(3))
    guard subLayers <= 6 else { throw .outOfRange("sps_max_sub_layers_minus1") }
    temporalLayers = subLayers + 1
    isTemporallyNested = try reader.flag()
    profileTierLevel = []
    for _ in 0..<12 { profileTierLevel.append(UInt8(truncatingIfNeeded: try reader.bits(8))) }
    try Self.skipSubLayers(subLayers, &reader)

    _ = try reader.unsigned("sps_seq_parameter_set_id", upTo: 15)
    chromaFormat = try reader.unsigned("chroma_format_idc", upTo: 3)
    if chromaFormat == 3 { _ = try reader.flag() }  // separate_colour_plane_flag: changes nothing below
    let limit = UInt32(PictureGeometry.maximumEdge)
    let codedWidth = try reader.unsigned("pic_width_in_luma_samples", upTo: limit)
    let codedHeight = try reader.unsigned("pic_height_in_luma_samples", upTo: limit)
    var window = [0, 0, 0, 0]
    if try reader.flag() {
      for edge in window.indices { window[edge] = try reader.unsigned("conf_win_offset", upTo: limit) }
    }
    let unit = PictureGeometry.subsampling(chromaFormat: chromaFormat)
    width = try PictureGeometry.cropped(codedWidth, by: [window[0], window[1]], unit: unit.x)
    height = try PictureGeometry.cropped(codedHeight, by: [window[2], window[3]], unit: unit.y)
    lumaBitDepth = 8 + (try reader.unsigned("bit_depth_luma_minus8", upTo: 8))
    chromaBitDepth = 8 + (try reader.unsigned("bit_depth_chroma_minus8", upTo: 8))
  }

  /// The part of profile_tier_level() that speaks of lower temporal layers.
  private static func skipSubLayers(_ count: Int, _ reader: inout BitReader) throws(BitstreamError) {
    guard count > 0 else { return }
    var bits = 0
    for layer in 0..<8 {
      let profilePresent = try reader.flag()
      let levelPresent = try reader.flag()
      // After the layers there are, the flags' places are reserved zeros.
      guard layer < count else { continue }
      bits += (profilePresent ? 88 : 0) + (levelPresent ? 8 : 0)
    }
    try reader.skip(bits)
  }
}
