import CFFmpeg

/// Turns decoded frames of any sample format, rate and number of channels into interleaved floating point samples of one rate,
/// mono or stereo. Used by one thread at a time.
final class AudioConverter {
  let rate: Int
  let channels: Int
  private var context: OpaquePointer?
  /// What the context was made for.
  private var made: (format: Int32, rate: Int32, channels: Int32)?

  /// - Parameter channels: 1 or 2; more than 2 channels of a frame are mixed down so that nothing clips.
  init(rate: Int, channels: Int) {
    self.rate = rate
    self.channels = channels
  }

  deinit { swr_free(&context) }

  func samples(of frame: Frame) throws(MediaError) -> [Float] {
    let raw = frame.pointer.pointee
    guard raw.nb_samples > 0 else { return [] }
    let format = AVSampleFormat(raw.format)
    let isFloat = format == AV_SAMPLE_FMT_FLT || format == AV_SAMPLE_FMT_FLTP
    if isFloat, Int(raw.sample_rate) == rate, 1...2 ~= raw.ch_layout.nb_channels {
      return try AudioFrameSamples.samples(of: frame, channels: channels)
    }
    try prepare(for: frame)
    return try convert(frame)
  }

  private func prepare(for frame: Frame) throws(MediaError) {
    let raw = frame.pointer.pointee
    let wanted = (format: raw.format, rate: raw.sample_rate, channels: raw.ch_layout.nb_channels)
    if let made, made == wanted { return }
    made = nil
    swr_free(&context)
    var input = AVChannelLayout()
    defer { av_channel_layout_uninit(&input) }
    if raw.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC || wanted.channels <= 2 {
      av_channel_layout_default(&input, wanted.channels)
    } else {
      try LibAV.check("av_channel_layout_copy", while: .decoding) {
        av_channel_layout_copy(&input, &frame.pointer.pointee.ch_layout)
      }
    }
    // With one or two channels on both sides they are mixed afterwards, at the levels that users expect.
    var output = AVChannelLayout()
    av_channel_layout_default(&output, min(wanted.channels, 2))
    try LibAV.check("swr_alloc_set_opts2", while: .decoding, cause: .audioFormatNotSupported) {
      swr_alloc_set_opts2(
        &context, &output, AV_SAMPLE_FMT_FLT, Int32(rate), &input, AVSampleFormat(wanted.format), wanted.rate, 0, nil)
    }
    av_opt_set_double(UnsafeMutableRawPointer(context), "rematrix_maxval", 1, 0)
    try LibAV.check("swr_init", while: .decoding, cause: .audioFormatNotSupported) { swr_init(context) }
    made = wanted
  }

  private func convert(_ frame: Frame) throws(MediaError) -> [Float] {
    let raw = frame.pointer.pointee
    let width = Int(min(raw.ch_layout.nb_channels, 2))
    let room = try LibAV.check("swr_get_out_samples", while: .decoding) {
      swr_get_out_samples(context, raw.nb_samples)
    }
    var samples = [Float](repeating: 0, count: Int(room) * width)
    let frames = try samples.withUnsafeMutableBytes { bytes in
      Result { () throws(MediaError) in
        var output = bytes.bindMemory(to: UInt8.self).baseAddress
        return try LibAV.check("swr_convert", while: .decoding) {
          raw.extended_data.withMemoryRebound(to: UnsafePointer<UInt8>?.self, capacity: Int(raw.ch_layout.nb_channels))
          {
            swr_convert(context, &output, room, $0, raw.nb_samples)
          }
        }
      }
    }.get()
    samples.removeLast(samples.count - Int(frames) * width)
    switch (width, channels) {
    case (1, 2): return ChannelMix.doubled(samples)
    case (2, 1): return ChannelMix.mean(samples)
    case _: return samples
    }
  }
}
