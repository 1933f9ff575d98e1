import LinkProtocol
import Units

/// Eight pictures of 64 by 96 pixels in flat greys, coded by x265 as two groups of four with every NAL unit in hex: the
/// luma of picture n is 40 + 20 n, exactly, which is how a test knows the picture it got.
enum CodedPictures {
  static let size = PixelSize(width: 64, height: 96)
  static let groupLength = 4
  static let luma: [UInt8] = [40, 60, 80, 100, 120, 140, 160, 180]

  static let parameterSets: [[UInt8]] = [
    bytes("40010c01ffff01600000030090000003000003001eba0240"),
    bytes("42010101600000030090000003000003001ea020818596e92930bc05a02000000300200000030301"),
    bytes("4401c0718112"),
  ]

  static let slices: [[UInt8]] = [
    bytes("2801ac2780eadd7ffc3be4f582c9df6bc0"),
    bytes("0201d00978837025955bff507deb17a810"),
    bytes("0201d011fe20d425955bff507deb17a810"),
    bytes("0201d019fe20d425955bff507deb17a810"),
    bytes("2801ac2780eadd7fd286f582c9df6bc0"),
    bytes("0201d009788350928b97be44ff1706b4f8"),
    bytes("0201d011fe20dc25955bff507deb17a810"),
    bytes("0201d019fe20d425955bff507deb17a810"),
  ]

  /// Picture `index` of an endless repetition of the eight.
  static func unit(_ index: Int, of stream: StreamID, captured: DeviceTime) -> AccessUnit {
    let picture = index % slices.count
    let isSync = picture % groupLength == 0
    let units = (isSync ? parameterSets : []) + [slices[picture]]
    return AccessUnit(
      stream: stream, flags: isSync ? [.sync, .parameterSets] : [], codec: .hevc, size: size, captured: captured,
      payload: units.flatMap(prefixed))
  }

  /// A NAL unit after its length in 4 bytes.
  static func prefixed(_ unit: [UInt8]) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: unit.count >> (24 - 8 * $0)) } + unit
  }

  private static func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
