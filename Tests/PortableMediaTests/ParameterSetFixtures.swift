import Testing

/// Parameter sets that x265 3.5 and x264 (core 164) wrote for pictures of a known size, through the ffmpeg command.
enum ParameterSetFixtures {
  struct Fixture: CustomTestStringConvertible {
    var name: String
    var width: Int
    var height: Int
    var chromaFormat = 1
    var bitDepth = 8
    var temporalLayers = 1
    var sequence: [UInt8]

    var testDescription: String { name }
  }

  /// libx265, `-pix_fmt yuv420p` unless named.
  static let hevc: [Fixture] = [
    Fixture(
      name: "360x640", width: 360, height: 640,
      sequence: bytes(
        "42010101600000030090000003000003003fa00b48028165959a4932bc05a02000000300200000030301")),
    Fixture(
      name: "504x896", width: 504, height: 896,
      sequence: bytes(
        "42010101600000030090000003000003005aa00fc8038165959a4932bc05a02000000300200000030301")),
    Fixture(
      name: "720x1280", width: 720, height: 1280,
      sequence: bytes(
        "42010101600000030090000003000003005da005a20050165959a4932bc05a020000030002000003003010")),
    Fixture(
      name: "1080x1920, cropped from 1088", width: 1080, height: 1920,
      sequence: bytes("420101016000000300900000030000030078a0021c801e0596566924caf0168080000003008000000c04")),
    Fixture(
      name: "66x50, cropped from 72x56", width: 66, height: 50,
      sequence: bytes("42010101600000030090000003000003001ea024839c9265959ae4caf0168080000003008000000c04")),
    Fixture(
      name: "320x240", width: 320, height: 240,
      sequence: bytes(
        "42010101600000030090000003000003003ca00a080f165959a4932bc05a020000030002000003003210")),
    Fixture(
      name: "4:2:2, 10 bits", width: 322, height: 242, chromaFormat: 2, bitDepth: 10,
      sequence: bytes(
        "4201010408000003009d0800000300003cb00a480f9c93b65959a4932bc05a020000030002000003003210")),
    Fixture(
      name: "grey", width: 320, height: 240, chromaFormat: 0,
      sequence: bytes(
        "4201010408000003009fc800000300003cc028203c596566924caf016c08000003000800000300c840")),
    Fixture(
      name: "4:4:4, 12 bits", width: 320, height: 240, chromaFormat: 3, bitDepth: 12,
      sequence: bytes("420101040800000300980800000300003c90014101e2294b2b349265780b4040000003004000000642")),
  ]

  /// libx264, `-pix_fmt yuv420p` unless named.
  static let h264: [Fixture] = [
    Fixture(
      name: "360x640", width: 360, height: 640,
      sequence: bytes("6764001eacd9417051e5f011000003000100000300300f162d96")),
    Fixture(
      name: "504x896", width: 504, height: 896,
      sequence: bytes("6764001facd940801c797c0440000003004000000c03c60c6580")),
    Fixture(
      name: "720x1280", width: 720, height: 1280,
      sequence: bytes("6764001facd940b40a1b011000000300100000030300f1831960")),
    Fixture(
      name: "1080x1920, cropped from 1088", width: 1080, height: 1920,
      sequence: bytes("67640028acd9404403c797c044000003000400000300c03c60c658")),
    Fixture(
      name: "66x50, cropped from 80x64", width: 66, height: 50,
      sequence: bytes("6764000aacd945278888c044000003000400000300c03c489658")),
    Fixture(
      name: "baseline", width: 176, height: 144, sequence: bytes("6742c00bd902c4ec0440000003004000000c83c50a92")),
    Fixture(
      name: "interlaced", width: 720, height: 480,
      sequence: bytes("6764001eacd940b47b6022000003000200000300643e28532c")),
    Fixture(
      name: "4:2:2, 10 bits", width: 322, height: 242, chromaFormat: 2, bitDepth: 10,
      sequence: bytes("677a000db6cd9415087888fc0440000003004000000c83c50a6580")),
    Fixture(
      name: "4:4:4, 10 bits", width: 322, height: 242, chromaFormat: 3, bitDepth: 10,
      sequence: bytes("67f4000d90d9b282a10f1f1f80880000030008000003019078a14cb0")),
  ]

  /// VPS, SPS and PPS of one x265 stream of 504x896.
  static let hevcSets = [
    bytes("40010c01ffff01600000030090000003000003005a959809"),
    bytes("42010101600000030090000003000003005aa00fc8038165959a4932bc05a02000000300200000030301"),
    bytes("4401c172b46240"),
  ]

  /// SPS and PPS of one x264 stream of 504x896.
  static let h264Sets = [bytes("6764001facd940801c797c0440000003004000000c83c60c6580"), bytes("68ebe3cb22c0")]

  /// What libavformat wrote as `hvcC` for an x265 stream of 504x896, up to its array of SEI units, with three arrays.
  static let hvcC = bytes(
    """
    0101600000009000000000005af000fcfdf8f800000f03
    a00001001840010c01ffff01600000030090000003000003005a959809
    a10001002a42010101600000030090000003000003005aa00fc8038165959a4932bc05a02000000300200000030301
    a2000100074401c172b46240
    """)

  /// What libavformat wrote as `avcC` for an x264 stream of 504x896.
  static let avcC = bytes(
    """
    0164001fffe1001a6764001facd940801c797c0440000003004000000c83c60c6580
    01000668ebe3cb22c0fdf8f800
    """)
}
