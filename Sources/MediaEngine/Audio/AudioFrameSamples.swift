import CFFmpeg

/// Samples in libavutil's frames.
enum AudioFrameSamples {
  /// The frame's samples, interleaved, where they are floating point and of one or two channels; mono and stereo as asked.
  static func samples(of frame: Frame, channels: Int) throws(MediaError) -> [Float] {
    let raw = frame.pointer.pointee
    let found = Int(raw.ch_layout.nb_channels)
    let frames = Int(raw.nb_samples)
    guard frames > 0 else { return [] }
    guard 1...2 ~= found, let planes = raw.extended_data else {
      throw MediaError(.audioFormatNotSupported, while: .decoding, "\(found) channels")
    }
    let samples: [Float]
    switch AVSampleFormat(raw.format) {
    case AV_SAMPLE_FMT_FLT: samples = interleaved(planes[0], count: frames * found)
    case AV_SAMPLE_FMT_FLTP where found == 1: samples = interleaved(planes[0], count: frames)
    case AV_SAMPLE_FMT_FLTP: samples = interleaved(planes[0], planes[1], frames: frames)
    case let format:
      let name = av_get_sample_fmt_name(format).map { String(cString: $0) } ?? "unknown"
      throw MediaError(.audioFormatNotSupported, while: .decoding, "samples of kind \(name)")
    }
    switch (found, channels) {
    case (1, 2): return ChannelMix.doubled(samples)
    case (2, 1): return ChannelMix.mean(samples)
    case _: return samples
    }
  }

  private static func interleaved(_ plane: UnsafeMutablePointer<UInt8>?, count: Int) -> [Float] {
    guard let plane else { return [Float](repeating: 0, count: count) }
    return plane.withMemoryRebound(to: Float.self, capacity: count) {
      Array(UnsafeBufferPointer(start: $0, count: count))
    }
  }

  private static func interleaved(
    _ left: UnsafeMutablePointer<UInt8>?, _ right: UnsafeMutablePointer<UInt8>?, frames: Int
  ) -> [Float] {
    guard let left = UnsafeRawPointer(left), let right = UnsafeRawPointer(right) else {
      return [Float](repeating: 0, count: frames * 2)
    }
    let sides = (left.assumingMemoryBound(to: Float.self), right.assumingMemoryBound(to: Float.self))
    return [Float](unsafeUninitializedCapacity: frames * 2) { buffer, count in
      for frame in 0..<frames {
        buffer[2 * frame] = sides.0[frame]
        buffer[2 * frame + 1] = sides.1[frame]
      }
      count = frames * 2
    }
  }
}
