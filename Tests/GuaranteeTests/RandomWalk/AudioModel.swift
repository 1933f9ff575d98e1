import Glasswing
import MWDATCamera

/// What one listener for sound may hear, as a value: each frame goes in, what is wrong with it comes out.
struct AudioModel: Sendable {
  private struct Last: Sendable {
    var stamp: CMTime
    var length: Double
  }

  private var last: Last?

  /// Frames follow one another by their lengths and what is missing, and say so.
  ///
  /// - Parameter isExact: the listener for states has heard all that came before this; else the frame may be of a start
  ///   that it has not heard of.
  mutating func heard(_ frame: AudioFrame, isExact: Bool) -> [String] {
    let rate = frame.pcmBuffer.format.sampleRate
    let stamp = frame.presentationTimeStamp
    let missing = Double(frame.missingSamples) / rate
    defer { last = Last(stamp: stamp, length: Double(frame.pcmBuffer.frameLength) / rate) }
    var wrong: [String] = []
    if frame.missingSamples > 0, !frame.isDiscontinuity { wrong.append("sound is missing and not marked") }
    guard let last else {
      if frame.isDiscontinuity || frame.missingSamples != 0 { wrong.append("the first sound follows a gap") }
      return wrong
    }
    let step = CMTimeGetSeconds(CMTimeSubtract(stamp, last.stamp))
    if stamp <= last.stamp { wrong.append("sound goes back by \(-step) s") }
    if isExact, abs(step - last.length - missing) > 2 / rate {
      wrong.append("sound steps by \(step) s after \(last.length) s with \(missing) s missing")
    }
    return wrong
  }
}
