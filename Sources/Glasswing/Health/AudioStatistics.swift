import MWDATCamera
import Units

/// Figures of a stream's sound at one moment. Counts run from the stream's making over all its starts; ages are of the
/// present attempt. Samples are counted for one channel.
public struct AudioStatistics: Codable, Hashable, Sendable {
  /// Units of sound that arrived: 20 ms each, as a rule.
  public let units: UInt64
  /// Bytes of these units.
  public let bytes: UInt64
  /// Bits in the last second.
  public let bitsPerSecond: Int64
  /// Frames handed to listeners, each counted once however many listen.
  public let frames: UInt64
  /// Samples of each channel in these frames.
  public let samples: UInt64
  /// Samples of each channel that frames said are missing before them, whatever the cause; what slow listeners miss is not in it.
  public let missingSamples: UInt64
  /// Units lost on the link.
  public let lost: UInt64
  /// Units that came for an attempt that is over, or while the session was paused.
  public let stale: UInt64
  /// Units that could not be used.
  public let undecodable: UInt64
  /// Frames that listeners were too slow for, summed over listeners.
  public let listeners: UInt64
  /// By how much samples are stretched to keep step with the pictures, in millionths; 0 where they are left as they came.
  public let driftCorrectionPPM: Double
  /// From the capture of a frame's first sample to the hand-over to listeners, its own 20 ms included: the median; nil
  /// before the first frame.
  public let ageP50: Duration?
  /// The same, 95th percentile.
  public let ageP95: Duration?

  init(_ sound: AudioTelemetry) {
    units = sound.units
    bytes = sound.bytes
    bitsPerSecond = sound.bitrate.bitsPerSecond
    frames = sound.frames
    samples = sound.samples
    missingSamples = sound.missingSamples
    lost = sound.lost
    stale = sound.stale
    undecodable = sound.undecodable
    listeners = sound.listeners
    driftCorrectionPPM = sound.correction
    ageP50 = sound.ages.percentile(0.5)
    ageP95 = sound.ages.percentile(0.95)
  }
}
