import CFFmpeg

/// The decoded picture hash that an HEVC encoder writes behind a picture (ITU-T H.265, D.2.19 and D.3.19): the MD5 of each
/// plane, in a suffix SEI NAL unit with a message of payload type 132.
///
/// FFmpeg can compare too, but not where it matters: without a word it leaves it out where it doesn't understand the
/// message, and where the slices' data end before the picture does, which is what changed bits often look like.
struct PictureHashMessage: Hashable {
  private static let suffixSEI: UInt8 = 40
  private static let payloadType = 132
  /// The one of the three kinds of hashes that our encoder writes.
  private static let md5: UInt8 = 0
  private static let md5Length = 16
  private static let planeCount = 3
  private static let trailingBits: UInt8 = 0x80

  /// Of Y, Cb and Cr.
  let planes: [[UInt8]]

  /// Reads a unit's hash, from NAL units behind their lengths. Nil unless there is exactly one, as the encoder writes it:
  /// MD5, of three planes, alone in its NAL unit of the base layer.
  init?(in unit: UnsafeRawBufferPointer) {
    let messages = LengthPrefixedUnits(bytes: unit).filter { unit[$0.lowerBound] >> 1 & 0x3F == Self.suffixSEI }
    guard messages.count == 1, let message = messages.first, message.count > 2 else { return nil }
    let header = (unit[message.lowerBound], unit[message.lowerBound + 1])
    // The forbidden bit and the layer are 0, the temporal layer's number plus one is not.
    guard header.0 & 0x81 == 0, header.1 & 0xF8 == 0, header.1 & 0x07 != 0 else { return nil }
    let payload = Self.rawPayload(unit[(message.lowerBound + 2)..<message.upperBound])
    let length = 1 + Self.planeCount * Self.md5Length
    guard payload.count == 2 + length + 1, payload[0] == Self.payloadType, payload[1] == length,
      payload[2] == Self.md5, payload.last == Self.trailingBits
    else { return nil }
    planes = (0..<Self.planeCount).map { Array(payload[(3 + $0 * Self.md5Length)...].prefix(Self.md5Length)) }
  }

  /// Of a picture as it was decoded, nothing cut off. Nil unless it is 8-bit 4:2:0.
  init?(of frame: Frame) throws(MediaError) {
    let raw = frame.pointer.pointee
    guard frame.pixelFormat == AV_PIX_FMT_YUV420P || frame.pixelFormat == AV_PIX_FMT_YUVJ420P else { return nil }
    let context = try LibAV.allocated("av_md5_alloc", while: .decoding, av_md5_alloc())
    defer { av_free(UnsafeMutableRawPointer(context)) }
    let halves = ((frame.width + 1) / 2, (frame.height + 1) / 2)
    var planes: [[UInt8]] = []
    for (base, stride, size) in [
      (raw.data.0, raw.linesize.0, (frame.width, frame.height)), (raw.data.1, raw.linesize.1, halves),
      (raw.data.2, raw.linesize.2, halves),
    ] {
      guard let base else { return nil }
      av_md5_init(context)
      for row in 0..<size.1 { av_md5_update(context, base + row * Int(stride), size.0) }
      var digest = [UInt8](repeating: 0, count: Self.md5Length)
      av_md5_final(context, &digest)
      planes.append(digest)
    }
    self.planes = planes
  }

  /// Without the bytes that keep start codes from appearing (7.4.2).
  private static func rawPayload(_ bytes: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
    var payload: [UInt8] = []
    payload.reserveCapacity(bytes.count)
    var zeros = 0
    for byte in bytes {
      if zeros >= 2, byte == 3 {
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      payload.append(byte)
    }
    return payload
  }
}
