import LinkProtocol
import LinkTransport
import MediaEngine
import Synchronization
import Units

/// One run of sound of one stream: a pipeline, the way of its units to the link, and what apps are told of their form.
final class AudioSender: Sendable {
  /// What the sound is of, for as long as it runs. The stream's pictures move it.
  let feedClock = FeedClock()
  private let pipeline: AudioPipeline
  private let announcer: Announcer
  private let connection: LinkConnection

  /// - Parameters:
  ///   - agreed: what listeners get.
  ///   - takesOpus: whether the app decodes Opus.
  ///   - estimate: of what the link carries, sound and pictures together; nil while nothing narrows it.
  ///   - observer: sees each unit that reaches the link.
  init(
    stream: StreamID, agreed: AudioParameters, takesOpus: Bool, microphone: GlassesMicrophone,
    timekeeper: any Timekeeper, deviceClock: DeviceClock, connection: LinkConnection,
    estimate: @escaping @Sendable () -> Bitrate?, observer: (@Sendable (AudioUnit) -> Void)?,
    failed: @escaping @Sendable (AudioSender, String) -> Void
  ) {
    let format = PCMFormat(sampleRate: Int(agreed.sampleRate), channels: Int(agreed.channels))
    let announcer = Announcer(
      AudioChanged(stream: stream, audio: agreed, source: microphone.source.kind, isMuted: microphone.isMuted))
    self.announcer = announcer
    self.connection = connection
    let choice = Mutex(AudioCodecChoice(agreed))
    let owner = Owner()
    pipeline = AudioPipeline(
      format: format, microphone: microphone, feedClock: feedClock, timekeeper: timekeeper, deviceClock: deviceClock,
      chooseCodec: { now in
        takesOpus ? choice.withLock { $0.look(estimate: estimate(), at: now) } : .pcmFloat32
      },
      emit: { unit in
        // Control overtakes sound, so this arrives before the unit, and before older units that still wait.
        if let change = announcer.change(to: unit) { connection.send(.audioChanged(change)) }
        let unit = unit.audioUnit(stream: stream)
        observer?(unit)
        connection.send(unit)
      },
      failed: { text in
        if let outlet = owner.outlet.withLock({ $0.object }) { failed(outlet, text) }
      })
    owner.outlet.withLock { $0.object = self }
  }

  /// Tells the app what it will hear, and begins with the pictures.
  func start(isAfterGap: Bool) {
    connection.send(.audioChanged(announcer.current))
    pipeline.start(isAfterGap: isAfterGap)
  }

  /// All sound up to now is queued on the link when this has returned, and none follows.
  func stop() { pipeline.stop() }

  /// What the app was told last.
  private final class Announcer: Sendable {
    private let told: Mutex<AudioChanged>

    init(_ first: AudioChanged) { told = Mutex(first) }

    var current: AudioChanged { told.withLock { $0 } }

    /// Nil when the app knows.
    func change(to unit: AudioPipeline.Unit) -> AudioChanged? {
      told.withLock { told in
        let changed = AudioChanged(
          stream: told.stream, audio: unit.audio.parameters, source: unit.source, isMuted: unit.isMuted)
        guard changed != told else { return nil }
        told = changed
        return changed
      }
    }
  }

  /// The way from the pipeline back to the outlet that holds it.
  private final class Owner: Sendable {
    struct Reference: Sendable { weak var object: AudioSender? }
    let outlet = Mutex(Reference())
  }
}

extension CodedAudio {
  fileprivate var parameters: AudioParameters {
    AudioParameters(
      codec: codec, sampleRate: UInt32(clamping: format.sampleRate), channels: UInt8(clamping: format.channels))
  }
}

extension AudioPipeline.Unit {
  fileprivate func audioUnit(stream: StreamID) -> AudioUnit {
    var flags: AudioUnit.Flags = isDiscontinuity ? .discontinuity : []
    if audio.hasHistory { flags.insert(.history) }
    return AudioUnit(
      stream: stream, flags: flags, codec: audio.codec,
      sampleRate: UInt32(clamping: audio.format.sampleRate), channels: UInt8(clamping: audio.format.channels),
      frames: UInt16(clamping: audio.frames), captured: captured, payload: audio.payload)
  }
}
