/// NAL unit types that matter for parameter sets: ITU-T H.265, table 7-1; H.264, table 7-1.
enum NALUnitType {
  static let hevcVideo: UInt8 = 32
  static let hevcSequence: UInt8 = 33
  static let hevcPicture: UInt8 = 34
  static let h264Sequence: UInt8 = 7
  static let h264Picture: UInt8 = 8

  /// Type of an HEVC unit; nil for an empty one.
  static func hevc(_ unit: [UInt8]) -> UInt8? { unit.first.map { $0 >> 1 & 0x3F } }

  /// Type of an H.264 unit; nil for an empty one.
  static func h264(_ unit: [UInt8]) -> UInt8? { unit.first.map { $0 & 0x1F } }
}
