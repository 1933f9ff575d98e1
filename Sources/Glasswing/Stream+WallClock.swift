import Foundation
import MWDATCamera
import Units

extension MWDATCamera.Stream {
  /// The date of a time on the host's monotonic clock: a frame's presentation time, a photo's capture time, a health
  /// event's. By the wall clock as it is set now: after it was set anew the same time gives another date, while the stamps
  /// themselves never jump. Any thread, also after the stream's end.
  ///
  /// - Returns: nil for a time that isn't numeric.
  public func wallClockTime(of time: CMTime) -> Date? {
    let nanoseconds = CMTimeConvertScale(time, timescale: 1_000_000_000, method: .default)
    guard nanoseconds.isNumeric else { return nil }
    let age = timekeeper.now - Instant(nanoseconds: nanoseconds.value)
    return Date(timeIntervalSince1970: timekeeper.wallClockSeconds - age.seconds)
  }
}
