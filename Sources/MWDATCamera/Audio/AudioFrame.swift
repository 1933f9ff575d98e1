import PortableMedia
import Units

/// Samples of sound that follow one another without a gap: 20 ms of them as a rule. Value lifetime: a frame that is kept
/// stays valid, and nothing writes to it.
///
/// Unchecked Sendable: the buffer is a class that a client could write to. Nobody here does once a frame is made, and
/// clients are told not to.
public struct AudioFrame: @unchecked Sendable {
  /// 32-bit floating point samples, each channel by itself, in the rate and number of channels that the stream was asked
  /// for; its format says so. Shared, and for reading only.
  public let pcmBuffer: AVAudioPCMBuffer

  /// When the first sample was captured, on the clock of the pictures' presentation times (`CMClockGetHostTimeClock`), in
  /// nanoseconds. It increases strictly within a stream, by the length of the samples before it and of those that are
  /// missing between: gaps are never closed up.
  public let presentationTimeStamp: CMTime

  /// Samples of each channel that are missing right before this frame. (Glasswing's `missingSamples`; the same name here
  /// would hide that in our own modules.)
  package let missingBefore: Int
  /// True when something is missing before this frame, or its time does not follow from the one before.
  /// (Glasswing's `isDiscontinuity`.)
  package let followsGap: Bool
  /// True for silence in place of what is missing. (Glasswing's `isFilled`.)
  package let isSubstitute: Bool

  package init(
    pcmBuffer: AVAudioPCMBuffer, presentationTimeStamp: CMTime, missingBefore: Int = 0, followsGap: Bool = false,
    isSubstitute: Bool = false
  ) {
    self.pcmBuffer = pcmBuffer
    self.presentationTimeStamp = presentationTimeStamp
    self.missingBefore = missingBefore
    self.followsGap = followsGap
    self.isSubstitute = isSubstitute
  }

  /// - Parameter start: of the first sample.
  init(_ buffer: AVAudioPCMBuffer, start: Instant, missingBefore: Int, followsGap: Bool) {
    self.init(
      pcmBuffer: buffer, presentationTimeStamp: CMTime(value: start.nanoseconds, timescale: 1_000_000_000),
      missingBefore: missingBefore, followsGap: followsGap)
  }

  /// For one listener, which misses more than others.
  func marked(missing: Int, followsGap: Bool) -> AudioFrame {
    guard missing != missingBefore || followsGap != self.followsGap else { return self }
    return AudioFrame(
      pcmBuffer: pcmBuffer, presentationTimeStamp: presentationTimeStamp, missingBefore: missing,
      followsGap: followsGap)
  }
}
