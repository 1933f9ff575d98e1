import LinkProtocol
import MediaEngine
import Synchronization
import Units

@testable import GlassesAgent

/// The capture of sound on a clock that tests move, with all it emitted.
final class AudioRig: Sendable {
  let clock = ManualTimekeeper()
  let feedClock = FeedClock()
  let microphone: GlassesMicrophone
  let pipeline: AudioPipeline
  let format: PCMFormat
  let start: Instant
  private let record = Recorded<AudioPipeline.Unit>()
  private let failureRecord = Recorded<String>()
  private let codecChoice: Codec

  private final class Codec: Sendable {
    let value = Mutex(AudioCodecID.pcmFloat32)
  }

  init(rate: Int = 16_000, channels: Int = 1, deviceClock: DeviceClock = .identity, isAfterGap: Bool = false) {
    format = PCMFormat(sampleRate: rate, channels: channels)
    start = clock.now
    microphone = GlassesMicrophone(timekeeper: clock, lane: clock.makeLane("agent"))
    let (record, failureRecord) = (record, failureRecord)
    let codec = Codec()
    codecChoice = codec
    pipeline = AudioPipeline(
      format: format, microphone: microphone, feedClock: feedClock, timekeeper: clock, deviceClock: deviceClock,
      chooseCodec: { _ in codec.value.withLock { $0 } }, emit: { record.add($0) }, failed: { failureRecord.add($0) })
    pipeline.start(isAfterGap: isAfterGap)
  }

  /// Begins with a feed that was opened so long ago.
  func begin(_ feed: FeedDescription = .pattern, late: Duration = .zero) {
    _ = feedClock.begin(feed, at: clock.now - late)
  }

  var codec: AudioCodecID {
    get { codecChoice.value.withLock { $0 } }
    set { codecChoice.value.withLock { $0 = newValue } }
  }

  var units: [AudioPipeline.Unit] { record.values }
  var failures: [String] { failureRecord.values }

  /// All PCM units' samples, one after the other.
  var samples: [Float] { units.flatMap(\.samples) }
}

extension AudioPipeline.Unit {
  /// Of a PCM unit.
  var samples: [Float] { PCMBytes.samples(audio.payload) }
}

/// The payload of PCM units.
enum PCMBytes {
  static func samples(_ bytes: [UInt8]) -> [Float] {
    stride(from: 0, to: bytes.count, by: 4).map { index in
      Float(bitPattern: bytes[index..<index + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) })
    }
  }
}
