import LinkProtocol
import Synchronization
import Units

/// What the glasses send as sound, and what listeners have of it.
package struct LinkAudioStatus: Hashable, Sendable {
  /// What listeners have: always what was asked for.
  package var delivered: AudioParameters
  /// What travels.
  package var onLink: AudioParameters
  package var source: AudioSourceKind
  /// The microphone is muted: what comes is silence.
  package var isMuted: Bool

  package init(
    delivered: AudioParameters, onLink: AudioParameters, source: AudioSourceKind = .unknown, isMuted: Bool = false
  ) {
    self.delivered = delivered
    self.onLink = onLink
    self.source = source
    self.isMuted = isMuted
  }
}

/// What a stream has counted of its sound since it was made, over all its attempts. A snapshot. Samples are of one
/// channel.
package struct AudioTelemetry: Sendable {
  /// Units that arrived for the attempt of their time, and their bytes.
  package var units: UInt64 = 0
  package var bytes: UInt64 = 0
  package var bitrate = Bitrate.bitsPerSecond(0)
  /// Frames handed to listeners, each counted once however many listen, and their samples.
  package var frames: UInt64 = 0
  package var samples: UInt64 = 0
  /// Samples that frames said are missing before them, whatever the cause; without those that slow listeners miss.
  package var missingSamples: UInt64 = 0
  /// Units that never arrived.
  package var lost: UInt64 = 0
  /// Units of an older attempt, or that arrived while the session rested.
  package var stale: UInt64 = 0
  /// Units that are not what they say they are.
  package var undecodable: UInt64 = 0
  /// Frames that listeners were too slow for, summed over listeners.
  package var listeners: UInt64 = 0
  /// By how much samples are stretched to follow the clock of the pictures, in millionths; 0 where they are left alone.
  package var correction = 0.0
  /// From the capture of a frame's first sample until it was handed to the listeners' lanes, over the current attempt.
  package var ages = AgeHistogram()

  package init() {}
}

/// Counts what happens to the sound of one stream, apart from its pictures, which must not wait for it.
final class AudioRecorder: Sendable {
  private struct State {
    var totals = AudioTelemetry()
    var units = RateMeter()
  }

  private let timekeeper: any Timekeeper
  private let state = Mutex(State())

  init(timekeeper: any Timekeeper) { self.timekeeper = timekeeper }

  func snapshot() -> AudioTelemetry {
    let now = timekeeper.now
    return state.withLock { state in
      var totals = state.totals
      totals.bitrate = state.units.rates(at: now).bitrate
      return totals
    }
  }

  func count(_ change: (inout AudioTelemetry) -> Void) { state.withLock { change(&$0.totals) } }

  func began() { state.withLock { $0.totals.ages = AgeHistogram() } }

  func unitArrived(bytes: Int, lost: Int, at arrived: Instant) {
    state.withLock { state in
      state.totals.units += 1
      state.totals.bytes = state.totals.bytes.addingSaturating(UInt64(max(0, bytes)))
      state.totals.lost = state.totals.lost.addingSaturating(UInt64(max(0, lost)))
      state.units.record(bytes: bytes, at: arrived)
    }
  }

  func delivered(samples: Int, missing: Int, captured: Instant, correction: Double) {
    let now = timekeeper.now
    state.withLock { state in
      state.totals.frames += 1
      state.totals.samples = state.totals.samples.addingSaturating(UInt64(max(0, samples)))
      state.totals.missingSamples = state.totals.missingSamples.addingSaturating(UInt64(max(0, missing)))
      state.totals.correction = correction
      state.totals.ages.record(now - captured)
    }
  }
}
