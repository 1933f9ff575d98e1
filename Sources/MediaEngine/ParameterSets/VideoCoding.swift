import CFFmpeg

/// How a video track is coded.
package enum VideoCoding: String, Hashable, Sendable, CaseIterable {
  /// ITU-T H.265.
  case hevc
  /// ITU-T H.264.
  case h264
}

extension VideoCoding {
  var codecID: AVCodecID {
    switch self {
    case .hevc: AV_CODEC_ID_HEVC
    case .h264: AV_CODEC_ID_H264
    }
  }

  init?(_ id: AVCodecID) {
    switch id {
    case AV_CODEC_ID_HEVC: self = .hevc
    case AV_CODEC_ID_H264: self = .h264
    default: return nil
    }
  }

  /// The type of a NAL unit from its first byte: 6 bits after the forbidden zero bit in H.265 (7.3.1.2), the low 5 bits
  /// in H.264 (7.3.1).
  func unitType(firstByte: UInt8) -> UInt8 {
    switch self {
    case .hevc: firstByte >> 1 & 0x3f
    case .h264: firstByte & 0x1f
    }
  }

  /// VPS, SPS and PPS: H.265 types 32 to 34, H.264 types 7 and 8.
  func isParameterSet(type: UInt8) -> Bool {
    switch self {
    case .hevc: 32...34 ~= type
    case .h264: 7...8 ~= type
    }
  }

  /// A slice of a picture that decodes without any other: H.265 IRAP (types 16 to 23), H.264 IDR (type 5).
  func isSync(type: UInt8) -> Bool {
    switch self {
    case .hevc: 16...23 ~= type
    case .h264: type == 5
    }
  }

  /// Any coded slice, that is, a unit that is part of a picture.
  func isSlice(type: UInt8) -> Bool {
    switch self {
    case .hevc: type < 32
    case .h264: 1...5 ~= type
    }
  }
}
