import Units

/// The fields of an H.265 sequence parameter set (7.3.2.2) that describe a track.
struct HEVCSequence: Hashable {
  /// general_profile_space to general_level_idc, as they stand in the set: 12 bytes.
  var profileTierLevel: [UInt8]
  var temporalLayers: UInt8
  var isTemporallyNested: Bool
  var chromaFormat: UInt8
  var lumaBitDepth: UInt8
  var chromaBitDepth: UInt8
  /// Size of the picture that is shown, inside the conformance window.
  var size: PixelSize

  /// Largest side that is believed; H.265's highest level ends below.
  private static let maximumSide: UInt32 = 16384

  /// Parses a whole NAL unit, header included.
  init(unit: [UInt8]) throws(MediaError) {
    guard unit.count > 15, VideoCoding.hevc.unitType(firstByte: unit[0]) == 33 else {
      throw MediaError(.malformedData, while: .reading, "not a sequence parameter set")
    }
    var reader = BitReader(unescaping: unit.dropFirst(2))
    try reader.skip(4)  // sps_video_parameter_set_id
    let subLayers = try reader.bits(3)
    temporalLayers = UInt8(subLayers) + 1
    isTemporallyNested = try reader.flag()
    profileTierLevel = []
    for _ in 0..<12 { profileTierLevel.append(UInt8(try reader.bits(8))) }
    try Self.skipSubLayers(Int(subLayers), &reader)
    _ = try reader.exponentialGolomb()  // sps_seq_parameter_set_id
    let chroma = try reader.exponentialGolomb()
    if chroma == 3 { try reader.skip(1) }  // separate_colour_plane_flag
    let width = try reader.exponentialGolomb()
    let height = try reader.exponentialGolomb()
    let window = try Self.window(&reader)
    let lumaDepth = try reader.exponentialGolomb()
    let chromaDepth = try reader.exponentialGolomb()
    guard chroma <= 3, lumaDepth <= 8, chromaDepth <= 8 else {
      throw MediaError(.malformedData, while: .reading, "a sequence parameter set's format is out of range")
    }
    chromaFormat = UInt8(chroma)
    lumaBitDepth = UInt8(lumaDepth) + 8
    chromaBitDepth = UInt8(chromaDepth) + 8
    size = try Self.shownSize(width, height, window, chroma: chroma)
  }

  /// sub_layer_profile_present_flag and what follows (7.3.3).
  private static func skipSubLayers(_ count: Int, _ reader: inout BitReader) throws(MediaError) {
    guard count > 0 else { return }
    var present: [(profile: Bool, level: Bool)] = []
    for _ in 0..<count { present.append((try reader.flag(), try reader.flag())) }
    try reader.skip(2 * (8 - count))
    for layer in present { try reader.skip((layer.profile ? 88 : 0) + (layer.level ? 8 : 0)) }
  }

  private typealias Window = (left: UInt32, right: UInt32, top: UInt32, bottom: UInt32)

  private static func window(_ reader: inout BitReader) throws(MediaError) -> Window {
    guard try reader.flag() else { return (0, 0, 0, 0) }
    let left = try reader.exponentialGolomb()
    let right = try reader.exponentialGolomb()
    return (left, right, try reader.exponentialGolomb(), try reader.exponentialGolomb())
  }

  private static func shownSize(
    _ width: UInt32, _ height: UInt32, _ window: Window, chroma: UInt32
  ) throws(MediaError) -> PixelSize {
    // The window counts chroma samples (Table 6-1).
    let horizontal: UInt64 = chroma == 1 || chroma == 2 ? 2 : 1
    let vertical: UInt64 = chroma == 1 ? 2 : 1
    let cutX = (UInt64(window.left) + UInt64(window.right)) * horizontal
    let cutY = (UInt64(window.top) + UInt64(window.bottom)) * vertical
    guard width <= maximumSide, height <= maximumSide, cutX < UInt64(width), cutY < UInt64(height) else {
      throw MediaError(.malformedData, while: .reading, "a sequence parameter set's size is out of range")
    }
    return PixelSize(width: Int(UInt64(width) - cutX), height: Int(UInt64(height) - cutY))
  }
}
