/// What this project needs of an H.264 sequence parameter set: ITU-T H.264, 7.3.2.1.1, up to the frame cropping.
package struct H264SequenceParameterSet: Hashable, Sendable {
  /// profile_idc.
  package var profile: UInt8
  /// The constraint_set flags as one byte.
  package var constraints: UInt8
  /// level_idc.
  package var level: UInt8
  /// 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
  package var chromaFormat = 1
  package var lumaBitDepth = 8
  package var chromaBitDepth = 8
  /// Width in luma samples inside the cropping rectangle.
  package var width: Int
  /// Height in luma samples of a frame inside the cropping rectangle.
  package var height: Int

  /// Profiles whose parameter sets say chroma format and bit depths.
  static let highProfiles: Set<UInt8> = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]

  /// Reads a whole NAL unit, header included, without start code or length.
  package init(unit: [UInt8]) throws(BitstreamError) {
    guard let header = unit.first else { throw .truncated }
    guard NALUnitType.h264(unit) == NALUnitType.h264Sequence, header & 0x80 == 0 else { throw .unexpectedUnit }
    var reader = BitReader(payload: unit[1...])
    profile = UInt8(truncatingIfNeeded: try reader.bits(8))
    constraints = UInt8(truncatingIfNeeded: try reader.bits(8))
    level = UInt8(truncatingIfNeeded: try reader.bits(8))
    _ = try reader.unsigned("seq_parameter_set_id", upTo: 31)
    var separatePlanes = false
    if Self.highProfiles.contains(profile) {
      chromaFormat = try reader.unsigned("chroma_format_idc", upTo: 3)
      if chromaFormat == 3 { separatePlanes = try reader.flag() }
      lumaBitDepth = 8 + (try reader.unsigned("bit_depth_luma_minus8", upTo: 6))
      chromaBitDepth = 8 + (try reader.unsigned("bit_depth_chroma_minus8", upTo: 6))
      try reader.skip(1)  // qpprime_y_zero_transform_bypass_flag
      if try reader.flag() { try Self.skipScalingLists(chromaFormat == 3 ? 12 : 8, &reader) }
    }
    _ = try reader.unsigned("log2_max_frame_num_minus4", upTo: 12)
    try Self.skipPictureOrder(&reader)
    _ = try reader.unsigned()  // max_num_ref_frames
    try reader.skip(1)  // gaps_in_frame_num_value_allowed_flag
    let limit = UInt32(PictureGeometry.maximumEdge / 16)
    let widthInBlocks = 1 + (try reader.unsigned("pic_width_in_mbs_minus1", upTo: limit - 1))
    let heightInUnits = 1 + (try reader.unsigned("pic_height_in_map_units_minus1", upTo: limit - 1))
    let framesOnly = try reader.flag()
    if !framesOnly { try reader.skip(1) }  // mb_adaptive_frame_field_flag
    try reader.skip(1)  // direct_8x8_inference_flag
    var crop = [0, 0, 0, 0]
    if try reader.flag() {
      for edge in crop.indices {
        crop[edge] = try reader.unsigned("frame_crop_offset", upTo: UInt32(PictureGeometry.maximumEdge))
      }
    }
    let fields = framesOnly ? 1 : 2
    let unit = PictureGeometry.subsampling(chromaFormat: separatePlanes ? 0 : chromaFormat)
    width = try PictureGeometry.cropped(widthInBlocks * 16, by: [crop[0], crop[1]], unit: unit.x)
    height = try PictureGeometry.cropped(heightInUnits * 16 * fields, by: [crop[2], crop[3]], unit: unit.y * fields)
  }

  /// 7.3.2.1.1.1: the lists themselves don't matter, only where they end.
  private static func skipScalingLists(_ count: Int, _ reader: inout BitReader) throws(BitstreamError) {
    for list in 0..<count where try reader.flag() {
      var last = 8
      var next = 8
      for _ in 0..<(list < 6 ? 16 : 64) {
        if next != 0 {
          let delta = try reader.signed()
          guard (-128...127).contains(delta) else { throw .outOfRange("delta_scale") }
          next = (last + delta + 256) % 256
        }
        last = next == 0 ? last : next
      }
    }
  }

  private static func skipPictureOrder(_ reader: inout BitReader) throws(BitstreamError) {
    switch try reader.unsigned("pic_order_cnt_type", upTo: 2) {
    case 0: _ = try reader.unsigned("log2_max_pic_order_cnt_lsb_minus4", upTo: 12)
    case 1:
      try reader.skip(1)  // delta_pic_order_always_zero_flag
      _ = try reader.signed()
      _ = try reader.signed()
      let cycle = try reader.unsigned("num_ref_frames_in_pic_order_cnt_cycle", upTo: 255)
      for _ in 0..<cycle { _ = try reader.signed() }
    default: break
    }
  }
}
