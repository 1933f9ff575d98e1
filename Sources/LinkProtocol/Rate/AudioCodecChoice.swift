import Units

/// Decides in which codec a stream's sound travels: PCM, which leaves the samples as they are, or Opus where PCM would
/// take too much of what the link is known to carry.
///
/// Down to Opus when PCM has been more than a quarter of it for half a second; at once when it is more than a half, since
/// sound leaves before pictures and leaves them too little. Back to PCM when it has been less than a fifth, or nothing has
/// limited the link, for a calm time. That nothing limits it with Opus does not show that PCM fits: a return that is
/// followed by a limit has failed, and makes the next calm time longer, so that the codec does not flap.
///
/// A value without a clock; times never step back.
package struct AudioCodecChoice: Hashable, Sendable {
  /// Parts of the link above which PCM is too much, after a while and at once, and below which it is tried again.
  private static let tooMuch = 0.25
  private static let farTooMuch = 0.5
  private static let little = 0.2
  /// How long PCM must have been too much: most narrow moments of a radio are shorter.
  private static let patience: Duration = .milliseconds(500)
  private static let firstCalm: Duration = .seconds(10)
  private static let calmGrowth = 3
  private static let longestCalm: Duration = .seconds(600)
  /// A return to PCM that Opus follows within this time has failed.
  private static let trial: Duration = .seconds(30)

  /// What sound is to be sent as.
  package private(set) var codec: AudioCodecID
  private let isFree: Bool
  /// What PCM takes, headers of units and chunks included.
  private let pcm: Bitrate
  private var tooMuchSince: Instant?
  private var littleSince: Instant?
  private var calm = Self.firstCalm
  private var returned: Instant?

  /// - Parameters:
  ///   - parameters: rate and channels of the sound.
  ///   - peer: what the receiver understands. One of the two codecs alone leaves no choice; none of them said is PCM,
  ///     which needs no decoder.
  package init(_ parameters: AudioParameters, peer: Capabilities = [.audioPCM, .audioOpus]) {
    codec = peer.contains(.audioOpus) && !peer.contains(.audioPCM) ? .opus : .pcmFloat32
    isFree = peer.isSuperset(of: [.audioPCM, .audioOpus])
    // 50 units a second, each with its head and the header of a chunk.
    let headers = Int64(50 * 8 * (UnitHead.audioLength + ChunkHeader.length))
    pcm = .bitsPerSecond(
      Int64(parameters.sampleRate).multipliedSaturating(by: Int64(parameters.channels) * 32).addingSaturating(headers))
  }

  /// Call now and then: with each unit, or each look at the link.
  ///
  /// - Parameter estimate: what the link is known to carry, sound and pictures together (`SendingRate.limit`); nil while
  ///   nothing limits what is sent.
  /// - Returns: what to send from now on.
  package mutating func look(estimate: Bitrate?, at now: Instant) -> AudioCodecID {
    guard isFree else { return codec }
    switch codec {
    case .pcmFloat32: lookAtPCM(estimate, at: now)
    case .opus: lookAtOpus(estimate, at: now)
    }
    return codec
  }

  private mutating func lookAtPCM(_ estimate: Bitrate?, at now: Instant) {
    guard let estimate, pcm > estimate.scaled(by: Self.tooMuch) else {
      tooMuchSince = nil
      return
    }
    let since = tooMuchSince ?? now
    tooMuchSince = since
    guard pcm > estimate.scaled(by: Self.farTooMuch) || now - since >= Self.patience else { return }
    let failed = returned.map { now - $0 < Self.trial } ?? false
    calm = failed ? min(calm * Self.calmGrowth, Self.longestCalm) : Self.firstCalm
    change(to: .opus)
  }

  private mutating func lookAtOpus(_ estimate: Bitrate?, at now: Instant) {
    if let estimate, pcm > estimate.scaled(by: Self.little) {
      littleSince = nil
      return
    }
    let since = littleSince ?? now
    littleSince = since
    guard now - since >= calm else { return }
    returned = now
    change(to: .pcmFloat32)
  }

  private mutating func change(to new: AudioCodecID) {
    codec = new
    tooMuchSince = nil
    littleSince = nil
  }
}
