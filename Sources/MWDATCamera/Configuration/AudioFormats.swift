/// The form in which sound reaches listeners.
public enum AudioCodec: Sendable {
  /// Uncompressed samples: 32-bit floating point, native byte order, one or two channels.
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
  /// Why a stream with this sound can't be had.
  var refusal: String {
    switch self {
    case .pcm(_, let channels) where !(1...2).contains(channels):
      "sound with \(channels) channels was asked for; there are 1 and 2"
    case .pcm:
      "streams carry no sound yet"
    }
  }
}
