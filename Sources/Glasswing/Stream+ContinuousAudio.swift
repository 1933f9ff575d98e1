import MWDATCamera
import MWDATCore
import Synchronization

extension MWDATCamera.Stream {
  /// As `audioFramePublisher`, with silence in the place of what is missing, so that sample counts alone tell the time:
  /// each frame begins where the one before ends. Filled frames are 20 ms long, the last of a gap may be shorter, and
  /// say so (`isFilled`); the frame after them has no mark. A gap of more than 10 s, such as a long pause, stays one: the
  /// frame after it is marked as on `audioFramePublisher`.
  public var continuousAudioPublisher: any Announcer<AudioFrame> { ContinuousAudio(source: audioFramePublisher) }
}

private struct ContinuousAudio: Announcer {
  let source: any Announcer<AudioFrame>

  func listen(_ listener: @escaping @Sendable (AudioFrame) -> Void) -> any AnyListenerToken {
    let filler = Mutex(GapFiller())
    return source.listen { frame in
      for frame in filler.withLock({ $0.fill(before: frame) }) { listener(frame) }
    }
  }
}

/// Makes the silence for one listener's gaps, as a value.
struct GapFiller: Sendable {
  /// Seconds of silence at most.
  static let longest = 10
  private static let millisecondsOfFrame = 20
  private static let timescale: CMTimeScale = 1_000_000_000

  /// A silent frame of full length, whose buffer all such share.
  private var silence: AudioFrame?

  /// The frames to hand on, the given one last.
  mutating func fill(before frame: AudioFrame) -> [AudioFrame] {
    let rate = Int(frame.pcmBuffer.format.sampleRate)
    let missing = frame.missingBefore
    guard missing > 0, rate > 0, missing / rate < Self.longest || missing == Self.longest * rate else { return [frame] }
    let full = max(1, rate * Self.millisecondsOfFrame / 1000)
    var frames: [AudioFrame] = []
    frames.reserveCapacity(missing / full + 2)
    var left = missing
    while left > 0 {
      let count = min(left, full)
      guard let silence = silence(count, isFull: count == full, like: frame) else { return [frame] }
      // Counted from the frame itself, so that rounding doesn't add up.
      let back = CMTime(
        value: (Int64(left) * Int64(Self.timescale) + Int64(rate / 2)) / Int64(rate), timescale: Self.timescale)
      frames.append(
        AudioFrame(
          pcmBuffer: silence, presentationTimeStamp: CMTimeSubtract(frame.presentationTimeStamp, back),
          isSubstitute: true))
      left -= count
    }
    frames.append(AudioFrame(pcmBuffer: frame.pcmBuffer, presentationTimeStamp: frame.presentationTimeStamp))
    return frames
  }

  private mutating func silence(_ count: Int, isFull: Bool, like frame: AudioFrame) -> AVAudioPCMBuffer? {
    let format = frame.pcmBuffer.format
    if isFull, let silence, silence.pcmBuffer.format == format { return silence.pcmBuffer }
    let capacity = AVAudioFrameCount(clamping: count)
    guard let buffer = AVAudioPCMBuffer(pcmFormat: format, frameCapacity: capacity) else { return nil }
    buffer.frameLength = capacity
    if isFull { silence = AudioFrame(pcmBuffer: buffer, presentationTimeStamp: .zero, isSubstitute: true) }
    return buffer
  }
}
