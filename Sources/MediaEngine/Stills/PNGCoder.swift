import CFFmpeg
import CYUV
import PortableMedia
import Units

/// PNG images, by libavcodec.
package enum PNGCoder {
  /// The picture as a PNG file of 8-bit RGB with alpha. Any format that converts to BGRA.
  ///
  /// Throws `.pixelFormatNotSupported`, `.sizeNotSupported`, `.outOfMemory`, `.libraryFailure`.
  package static func encode(_ picture: CVPixelBuffer) throws(MediaError) -> [UInt8] {
    try StillLimits.check(width: picture.pixelWidth, height: picture.pixelHeight, while: .encoding)
    let bgra = try PictureConverter().convert(picture, to: kCVPixelFormatType_32BGRA)
    let encoder = try Encoder(width: Int32(picture.pixelWidth), height: Int32(picture.pixelHeight))
    return try encoder.encode(try frame(bgra))
  }

  static func decode(_ bytes: [UInt8]) throws(MediaError) -> StillImage {
    let decoder = try CodecContext(decoder: AV_CODEC_ID_PNG) { context in
      // Checked by the decoder before it allocates.
      context.max_pixels = Int64(StillLimits.maximumPixels)
      context.err_recognition |= AV_EF_CRCCHECK | AV_EF_EXPLODE
    }
    let packet = try Packet()
    let target = try packet.reserve(bytes.count, while: .decoding)
    UnsafeMutableRawBufferPointer(start: target, count: bytes.count).copyBytes(from: bytes)
    _ = try decoder.send(packet)
    _ = try decoder.send(nil)
    let frame = try Frame()
    guard try decoder.receive(frame), decoder.complaints == nil else {
      throw MediaError(.damagedPicture, while: .decoding, decoder.complaints ?? "the image is cut off")
    }
    return StillImage(picture: try picture(frame), orientation: .up, format: .png)
  }

  /// A frame of R, G, B, A with the picture's pixels.
  private static func frame(_ bgra: CVPixelBuffer) throws(MediaError) -> Frame {
    let frame = try Frame()
    frame.pointer.pointee.format = AV_PIX_FMT_RGBA.rawValue
    frame.pointer.pointee.width = Int32(bgra.pixelWidth)
    frame.pointer.pointee.height = Int32(bgra.pixelHeight)
    try LibAV.check("av_frame_get_buffer", while: .encoding) { av_frame_get_buffer(frame.pointer, 0) }
    let source = try PlaneBytes.bgra(bgra)
    let stride = frame.pointer.pointee.linesize.0
    try checkYUV(
      "ARGBToABGR",
      ARGBToABGR(source.base, source.stride, frame.pointer.pointee.data.0, stride, source.width, source.height))
    return frame
  }

  /// Any pixel format that PNG knows (grey, palette, 16 bits) as BGRA.
  private static func picture(_ frame: Frame) throws(MediaError) -> CVPixelBuffer {
    let picture = try StillDecoder.buffer(width: frame.width, height: frame.height)
    let plane = try PlaneBytes.bgra(picture)
    let scaler = sws_getContext(
      plane.width, plane.height, frame.pixelFormat, plane.width, plane.height, AV_PIX_FMT_BGRA, SWS_POINT, nil, nil, nil
    )
    guard let scaler else {
      throw MediaError(.pixelFormatNotSupported, while: .decoding, "an image of pixel format \(frame.pixelFormat)")
    }
    defer { sws_freeContext(scaler) }
    let raw = frame.pointer.pointee
    let sources: [UnsafePointer<UInt8>?] = [
      UnsafePointer(raw.data.0), UnsafePointer(raw.data.1), UnsafePointer(raw.data.2), UnsafePointer(raw.data.3),
    ]
    let sourceStrides = [raw.linesize.0, raw.linesize.1, raw.linesize.2, raw.linesize.3]
    var planes: [UnsafeMutablePointer<UInt8>?] = [plane.base, nil, nil, nil]
    var strides = [plane.stride, 0, 0, 0]
    try LibAV.check("sws_scale", while: .decoding) {
      sws_scale(scaler, sources, sourceStrides, 0, raw.height, &planes, &strides)
    }
    return picture
  }

  /// An opened PNG encoder, freed with its owner.
  private final class Encoder {
    private let context: UnsafeMutablePointer<AVCodecContext>

    init(width: Int32, height: Int32) throws(MediaError) {
      guard let codec = avcodec_find_encoder(AV_CODEC_ID_PNG) else {
        throw MediaError(.codecNotSupported("png"), while: .encoding)
      }
      context = try LibAV.allocated("avcodec_alloc_context3", while: .encoding, avcodec_alloc_context3(codec))
      context.pointee.width = width
      context.pointee.height = height
      context.pointee.pix_fmt = AV_PIX_FMT_RGBA
      context.pointee.time_base = AVRational(num: 1, den: 1)
      context.pointee.thread_count = 1
      try LibAV.check("avcodec_open2", while: .encoding) { avcodec_open2(context, codec, nil) }
    }

    deinit {
      var context: UnsafeMutablePointer<AVCodecContext>? = context
      avcodec_free_context(&context)
    }

    func encode(_ frame: Frame) throws(MediaError) -> [UInt8] {
      let packet = try Packet()
      try LibAV.check("avcodec_send_frame", while: .encoding) { avcodec_send_frame(context, frame.pointer) }
      try LibAV.check("avcodec_receive_packet", while: .encoding) { avcodec_receive_packet(context, packet.pointer) }
      return [UInt8](UnsafeBufferPointer(start: packet.pointer.pointee.data, count: Int(packet.pointer.pointee.size)))
    }
  }
}
