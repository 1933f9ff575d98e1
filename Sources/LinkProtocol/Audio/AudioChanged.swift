/// Where the sound of a stream comes from. One that a newer peer invented reads as `.unknown`.
package enum AudioSourceKind: UInt8, Hashable, Sendable, CaseIterable {
  case unknown, microphone
  /// The sound of what the camera shows, where that is a feed.
  case feed
  case file, tone, silence, injected
}

/// Glasses to app: how the stream's sound is sent from now on. Right after `streamStarted`, then on each change, before
/// the first unit in the new form (AUD-4).
package struct AudioChanged: Hashable, Sendable {
  package var stream: StreamID
  package var audio: AudioParameters
  package var source: AudioSourceKind
  /// The units hold silence instead of what the source gives.
  package var isMuted: Bool

  package init(stream: StreamID, audio: AudioParameters, source: AudioSourceKind, isMuted: Bool = false) {
    self.stream = stream
    self.audio = audio
    self.source = source
    self.isMuted = isMuted
  }
}
