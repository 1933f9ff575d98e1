// How the package's own code fills and reads buffers: always interleaved, which is how the link, the codecs and the
// resampler have samples.

extension AVAudioPCMBuffer {
  /// A full buffer in the standard format with these samples, in the one copy that taking channels apart needs.
  ///
  /// Nil for formats that don't exist, no samples, or a number of samples that is no multiple of the channels.
  package convenience init?(sampleRate: Int, channels: Int, interleaved samples: [Float]) {
    guard let count = AVAudioChannelCount(exactly: channels), count > 0, samples.count.isMultiple(of: channels),
      let frames = AVAudioFrameCount(exactly: samples.count / channels),
      let format = AVAudioFormat(standardFormatWithSampleRate: Double(sampleRate), channels: count)
    else { return nil }
    self.init(format: format, frames: frames, interleaved: samples)
  }

  /// A full buffer in a standard format that many buffers share.
  package convenience init?(format: AVAudioFormat, interleaved samples: [Float]) {
    let channels = Int(format.channelCount)
    guard format.isStandard, samples.count.isMultiple(of: channels),
      let frames = AVAudioFrameCount(exactly: samples.count / channels)
    else { return nil }
    self.init(format: format, frames: frames, interleaved: samples)
  }

  private convenience init?(format: AVAudioFormat, frames: AVAudioFrameCount, interleaved samples: [Float]) {
    self.init(pcmFormat: format, frameCapacity: frames)
    frameLength = frames
    guard let table = floatChannelData else { return nil }
    let channels = Int(format.channelCount)
    samples.withUnsafeBufferPointer { samples in
      guard let base = samples.baseAddress else { return }
      if channels == 1 {
        table[0].update(from: base, count: samples.count)
      } else {
        for channel in 0..<channels {
          let plane = table[channel]
          var at = channel
          for frame in 0..<Int(frames) {
            plane[frame] = base[at]
            at += channels
          }
        }
      }
    }
  }

  /// All frames in use as interleaved floating point, whichever of the common formats the buffer has; integers become
  /// ±1. Nil for other formats.
  package var interleavedSamples: [Float]? {
    switch format.commonFormat {
    case .pcmFormatFloat32: gather(Float.self) { $0 }
    case .pcmFormatFloat64: gather(Double.self) { Float($0) }
    case .pcmFormatInt16: gather(Int16.self) { Float($0) / 0x8000 }
    case .pcmFormatInt32: gather(Int32.self) { Float($0) / 0x8000_0000 }
    case .otherFormat: nil
    }
  }

  /// The same with twice the width, in which no common format loses anything.
  package var interleavedDoubles: [Double]? {
    switch format.commonFormat {
    case .pcmFormatFloat32: gather(Float.self) { Double($0) }
    case .pcmFormatFloat64: gather(Double.self) { $0 }
    case .pcmFormatInt16: gather(Int16.self) { Double($0) / 0x8000 }
    case .pcmFormatInt32: gather(Int32.self) { Double($0) / 0x8000_0000 }
    case .otherFormat: nil
    }
  }

  /// Writes whole frames of interleaved floating point from a frame of this buffer on, as far as the capacity goes.
  /// Integers are rounded to the nearest and held within their range; what is not a number is 0.
  ///
  /// - Returns: how many frames were written; none into a buffer in none of the common formats.
  package func write(interleaved samples: ArraySlice<Double>, at frame: Int) -> Int {
    switch format.commonFormat {
    case .pcmFormatFloat32: scatter(samples, at: frame, Float.self) { Float($0) }
    case .pcmFormatFloat64: scatter(samples, at: frame, Double.self) { $0 }
    case .pcmFormatInt16: scatter(samples, at: frame, Int16.self) { Self.integer($0 * 0x8000) }
    case .pcmFormatInt32: scatter(samples, at: frame, Int32.self) { Self.integer($0 * 0x8000_0000) }
    case .otherFormat: 0
    }
  }

  private static func integer<Sample: FixedWidthInteger>(_ value: Double) -> Sample {
    let rounded = value.rounded()
    return Sample(exactly: rounded) ?? (rounded > 0 ? .max : rounded < 0 ? .min : 0)
  }

  private func gather<Sample, Value>(_ type: Sample.Type, _ value: (Sample) -> Value) -> [Value] {
    let channels = Int(format.channelCount)
    let table = memory.channelTable(type)
    let step = stride
    let frames = Int(frameLength)
    return [Value](unsafeUninitializedCapacity: frames * channels) { samples, count in
      for channel in 0..<channels {
        let source = table[channel]
        for frame in 0..<frames {
          samples.initializeElement(at: frame * channels + channel, to: value(source[frame * step]))
        }
      }
      count = frames * channels
    }
  }

  private func scatter<Sample>(
    _ samples: ArraySlice<Double>, at first: Int, _ type: Sample.Type, _ sample: (Double) -> Sample
  ) -> Int {
    let channels = Int(format.channelCount)
    let frames = min(samples.count / channels, Int(frameCapacity) - first)
    guard first >= 0, frames > 0 else { return 0 }
    let table = memory.channelTable(type)
    let step = stride
    samples.withUnsafeBufferPointer { samples in
      for channel in 0..<channels {
        let target = table[channel]
        for frame in 0..<frames { target[(first + frame) * step] = sample(samples[frame * channels + channel]) }
      }
    }
    return frames
  }
}
