import CFFmpeg
import Units

/// An opened sound encoder of libavcodec, and the frame that it reads from. Used by one thread at a time.
///
/// Unchecked Sendable: it lives in its owner's mutex and nowhere else.
final class AudioEncoderContext: @unchecked Sendable {
  let format: PCMFormat
  /// Frames that a packet holds; 0 where each holds as many as came.
  let packetFrames: Int
  /// Frames that a decoder yields before the first that went in.
  let priming: Int
  /// What a decoder has to know.
  let configuration: [UInt8]

  let pointer: UnsafeMutablePointer<AVCodecContext>
  private let frame: Frame
  private let packet: Packet
  private var sent: Int64 = 0
  /// What a decoder has to know, where the end changed it.
  private(set) var finalConfiguration: [UInt8]?

  init(
    _ codec: AudioEncoder.Codec, _ format: PCMFormat, bitrate: Bitrate?, options: [String: String] = [:]
  ) throws(MediaError) {
    LibAVLog.install()
    guard let found = avcodec_find_encoder_by_name(codec.encoderName) else {
      throw MediaError(.codecNotSupported(codec.encoderName), while: .opening)
    }
    self.format = format
    let pointer = try LibAV.allocated("avcodec_alloc_context3", while: .opening, avcodec_alloc_context3(found))
    do {
      frame = try Frame()
      packet = try Packet()
      pointer.pointee.thread_count = 1
      pointer.pointee.sample_rate = Int32(format.sampleRate)
      pointer.pointee.sample_fmt = codec.sampleFormat
      pointer.pointee.time_base = AVRational(num: 1, den: Int32(format.sampleRate))
      pointer.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
      av_channel_layout_default(&pointer.pointee.ch_layout, Int32(format.channels))
      if let bitrate { pointer.pointee.bit_rate = bitrate.bitsPerSecond }
      if codec == .flac {
        pointer.pointee.bits_per_raw_sample = 24
        // Else 100 ms: packets are what a recording's tracks can end with, and what a kill takes.
        pointer.pointee.frame_size = Int32(max(16, format.sampleRate / 40))
      }
      var dictionary: OpaquePointer?
      defer { av_dict_free(&dictionary) }
      for (key, value) in options { av_dict_set(&dictionary, key, value, 0) }
      try LibAV.check("avcodec_open2", while: .opening, cause: .audioFormatNotSupported) {
        avcodec_open2(pointer, found, &dictionary)
      }
    } catch {
      var context: UnsafeMutablePointer<AVCodecContext>? = pointer
      avcodec_free_context(&context)
      throw error
    }
    self.pointer = pointer
    packetFrames = Int(pointer.pointee.frame_size)
    priming = Int(pointer.pointee.initial_padding)
    configuration =
      pointer.pointee.extradata.map {
        Array(UnsafeBufferPointer(start: $0, count: Int(pointer.pointee.extradata_size)))
      } ?? []
  }

  deinit {
    var context: UnsafeMutablePointer<AVCodecContext>? = pointer
    avcodec_free_context(&context)
  }

  /// Gives the encoder the samples of one packet, or of its last, which may be shorter.
  func send(_ samples: [Float]) throws(MediaError) {
    let frames = samples.count / format.channels
    try LibAV.check("av_frame_get_buffer", while: .encoding) { prepare(frames: frames) }
    try fill(samples)
    frame.pointer.pointee.pts = sent
    sent += Int64(frames)
    try LibAV.check("avcodec_send_frame", while: .encoding) { avcodec_send_frame(pointer, frame.pointer) }
  }

  /// No more samples come.
  func end() throws(MediaError) {
    try LibAV.check("avcodec_send_frame", while: .encoding) { avcodec_send_frame(pointer, nil) }
  }

  /// The next packet that is ready; nil for none.
  func receive() throws(MediaError) -> AudioEncoder.EncodedPacket? {
    while true {
      packet.clear()
      let outcome = try LibAV.outcome("avcodec_receive_packet", while: .encoding) {
        avcodec_receive_packet(pointer, packet.pointer)
      }
      guard case .value = outcome else { return nil }
      let raw = packet.pointer.pointee
      if let data = raw.data, raw.size > 0 {
        let bytes = Array(UnsafeBufferPointer(start: data, count: Int(raw.size)))
        return AudioEncoder.EncodedPacket(bytes: bytes, start: Int(raw.pts), frames: Int(raw.duration))
      }
      // A packet of nothing brings the configuration anew.
      var size = 0
      if let bytes = av_packet_get_side_data(packet.pointer, AV_PKT_DATA_NEW_EXTRADATA, &size) {
        finalConfiguration = Array(UnsafeBufferPointer(start: bytes, count: size))
      }
    }
  }

  /// Makes the frame ready for so many frames of samples; its memory is used again where nobody else refers to it.
  private func prepare(frames: Int) -> Int32 {
    let raw = frame.pointer
    if raw.pointee.nb_samples == Int32(frames), av_frame_is_writable(raw) == 1 { return 0 }
    frame.clear()
    raw.pointee.nb_samples = Int32(frames)
    raw.pointee.format = pointer.pointee.sample_fmt.rawValue
    raw.pointee.sample_rate = pointer.pointee.sample_rate
    let code = av_channel_layout_copy(&raw.pointee.ch_layout, &pointer.pointee.ch_layout)
    return code < 0 ? code : av_frame_get_buffer(raw, 0)
  }

  private func fill(_ samples: [Float]) throws(MediaError) {
    let channels = format.channels
    let frames = samples.count / channels
    guard let planes = frame.pointer.pointee.extended_data else {
      throw MediaError(.outOfMemory, while: .encoding, "a frame without memory")
    }
    let isPlanar = av_sample_fmt_is_planar(pointer.pointee.sample_fmt) == 1
    for channel in 0..<channels {
      // Of interleaved samples there is one plane, of which every channel takes its places.
      guard let plane = UnsafeMutableRawPointer(planes[isPlanar ? channel : 0]) else { continue }
      let (first, step) = isPlanar ? (0, 1) : (channel, channels)
      switch pointer.pointee.sample_fmt {
      case AV_SAMPLE_FMT_S16:
        let target = plane.assumingMemoryBound(to: Int16.self)
        for number in 0..<frames {
          target[first + number * step] = Int16(samples[number * channels + channel].scaled(to: 0x1p15))
        }
      case AV_SAMPLE_FMT_S32:
        // 24 bits, in the upper bytes.
        let target = plane.assumingMemoryBound(to: Int32.self)
        for number in 0..<frames {
          target[first + number * step] = Int32(samples[number * channels + channel].scaled(to: 0x1p23)) << 8
        }
      case _:
        let target = plane.assumingMemoryBound(to: Float.self)
        for number in 0..<frames { target[first + number * step] = samples[number * channels + channel] }
      }
    }
  }
}

extension Float {
  /// The nearest whole number within `-full..<full`; 0 for what is not a number.
  fileprivate func scaled(to full: Float) -> Float {
    isNaN ? 0 : min(max((self * full).rounded(), -full), full - 1)
  }
}

extension AudioEncoder.Codec {
  fileprivate var encoderName: String {
    switch self {
    case .aac: "aac"
    case .opus: "libopus"
    case .flac: "flac"
    case .pcm16: "pcm_s16le"
    case .pcmFloat: "pcm_f32le"
    }
  }

  fileprivate var sampleFormat: AVSampleFormat {
    switch self {
    case .aac: AV_SAMPLE_FMT_FLTP
    case .opus, .pcmFloat: AV_SAMPLE_FMT_FLT
    case .flac: AV_SAMPLE_FMT_S32
    case .pcm16: AV_SAMPLE_FMT_S16
    }
  }
}
