import LinkProtocol

/// The form in which sound reaches listeners.
public enum AudioCodec: Sendable {
  /// Uncompressed samples, whatever travels: 32-bit floating point in native byte order, full scale from -1 to 1, each
  /// channel by itself (not interleaved). What the microphone has is resampled to `sampleRate`; `numberOfChannels` is 1
  /// (the mean of its sides, if it has two) or 2. Any other number ends the stream in `.audioStreamingError` when it is
  /// started.
  case pcm(sampleRate: AudioSampleRate, numberOfChannels: UInt32)
}

/// Samples a second and channel; the raw value is the number.
@frozen
public enum AudioSampleRate: UInt, CaseIterable, Sendable {
  case rate16000 = 16_000
  case rate44100 = 44_100
  case rate48000 = 48_000
}

extension AudioCodec {
  /// Why a stream with this sound can't be had; nil when it can.
  var refusal: String? {
    switch self {
    case .pcm(_, let channels) where !(1...2).contains(channels):
      "sound with \(channels) channels was asked for; there are 1 and 2"
    case .pcm:
      nil
    }
  }

  /// What is asked of the glasses, and what listeners get. Nil with a number of channels that there is none of.
  var parameters: AudioParameters? {
    switch self {
    case .pcm(let rate, let channels):
      guard refusal == nil else { return nil }
      return AudioParameters(
        codec: .pcmFloat32, sampleRate: UInt32(rate.rawValue), channels: UInt8(truncatingIfNeeded: channels))
    }
  }
}

extension StreamConfiguration {
  /// What is asked of the glasses' microphone; nil for none, and for a form that there is none of.
  package var audioParameters: AudioParameters? { audioCodec?.parameters }
}
