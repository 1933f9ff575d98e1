import LinkProtocol
import LinkTransport
import Units

// What the agent does with the sound of streams, on its lane.
extension GlassesAgent {
  /// Streams whose sound is being captured now.
  package var runningAudioCount: Int { state.withLock { $0.audios.count } }

  /// Sees each unit of sound of streams that begin from now on, as it leaves for the link. On a lane of the stream's.
  package func observeAudio(_ observer: (@Sendable (AudioUnit) -> Void)?) {
    state.withLock { $0.audioObserver = observer }
  }

  func startAudio(_ key: StreamKey, _ agreed: AudioParameters) {
    let faults = faults
    guard !faults.sendsNothing, !faults.sendsNoAudio, let connection = link(key.link) else { return }
    let (takesOpus, observer, hasBegunBefore) = state.withLock { state in
      (state.opusLinks.contains(key.link), state.audioObserver, state.rates[key] != nil)
    }
    let outlet = AudioSender(
      stream: key.stream, agreed: agreed, takesOpus: takesOpus, microphone: microphone, timekeeper: timekeeper,
      deviceClock: configuration.deviceClock, connection: connection,
      estimate: { [weak self] in self?.state.withLock { $0.rates[key] }?.estimate }, observer: observer,
      failed: { [weak self] outlet, text in
        self?.enqueue { $0.audioFailed(key, outlet, text) }
      })
    state.withLock { $0.audios[key] = outlet }
    outlet.start(isAfterGap: hasBegunBefore)
  }

  func stopAudio(_ key: StreamKey) {
    state.withLock { $0.audios.removeValue(forKey: key) }?.stop()
  }

  private func audioFailed(_ key: StreamKey, _ outlet: AudioSender, _ text: String) {
    // A stream that was begun anew since has another outlet under the same key.
    guard state.withLock({ $0.audios[key] === outlet }) else { return }
    act { $0.audioFailed(key, text: text) }
  }
}
