import Units

/// Decides in which codec a stream's sound travels: PCM, which leaves the samples as they are, or Opus where PCM would
/// take too much of what the link is known to carry.
package struct AudioCodecChoice: Hashable, Sendable {
  package private(set) var codec: AudioCodecID
  private let pcmRate: Bitrate

  /// - Parameters:
  ///   - pcm: rate and channels of the sound.
  ///   - peer: what the receiver understands; one of the two codecs alone leaves no choice.
  package init(_ parameters: AudioParameters, peer: Capabilities = [.audioPCM, .audioOpus]) {
    codec = peer.contains(.audioPCM) || !peer.contains(.audioOpus) ? .pcmFloat32 : .opus
    pcmRate = .bitsPerSecond(Int64(parameters.sampleRate) * Int64(parameters.channels) * 32)
  }

  /// - Parameter estimate: what the link is known to carry in all; nil while nothing limits what is sent.
  package mutating func look(estimate: Bitrate?, at now: Instant) -> AudioCodecID { codec }
}
