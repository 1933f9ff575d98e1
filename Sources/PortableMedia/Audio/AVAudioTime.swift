/// A moment, by the host's clock, by a count of samples, or by both. Immutable; any thread.
///
/// Host times are nanoseconds of the host's monotonic clock (ticks of another length on a phone), the base of the
/// presentation time stamps of streams.
public final class AVAudioTime: Sendable {
  /// Nanoseconds of the host's monotonic clock; 0 unless valid.
  public let hostTime: UInt64
  /// Position in frames; 0 unless valid.
  public let sampleTime: AVAudioFramePosition
  /// Frames a second of the position; 0 if there is none.
  public let sampleRate: Double
  /// True if the host's time is known.
  public let isHostTimeValid: Bool
  /// True if the position is known.
  public let isSampleTimeValid: Bool

  private init(hostTime: UInt64?, sampleTime: AVAudioFramePosition?, sampleRate: Double) {
    self.hostTime = hostTime ?? 0
    self.sampleTime = sampleTime ?? 0
    self.sampleRate = sampleRate
    isHostTimeValid = hostTime != nil
    isSampleTimeValid = sampleTime != nil
  }

  /// A moment by the host's clock alone.
  public convenience init(hostTime: UInt64) { self.init(hostTime: hostTime, sampleTime: nil, sampleRate: 0) }

  /// A moment by a position alone.
  public convenience init(sampleTime: AVAudioFramePosition, atRate sampleRate: Double) {
    self.init(hostTime: nil, sampleTime: sampleTime, sampleRate: sampleRate)
  }

  /// A moment by both.
  public convenience init(hostTime: UInt64, sampleTime: AVAudioFramePosition, atRate sampleRate: Double) {
    self.init(hostTime: hostTime as UInt64?, sampleTime: sampleTime, sampleRate: sampleRate)
  }

  /// The host's time after so many seconds, held within what can be counted.
  public static func hostTime(forSeconds seconds: Double) -> UInt64 {
    let nanoseconds = (seconds * nanosecondsPerSecond).rounded()
    return nanoseconds >= 0 ? UInt64(exactly: nanoseconds) ?? (nanoseconds > 0 ? .max : 0) : 0
  }

  /// The seconds of a host time.
  public static func seconds(forHostTime hostTime: UInt64) -> Double { Double(hostTime) / nanosecondsPerSecond }

  /// This moment with what it lacks filled in from an anchor that has both: the host's time from the position, or the
  /// position from the host's time.
  ///
  /// This time itself if it lacks nothing; nil if the anchor lacks something, if this one has nothing, or if the result
  /// can't be counted.
  public func extrapolateTime(fromAnchor anchorTime: AVAudioTime) -> AVAudioTime? {
    if isHostTimeValid, isSampleTimeValid { return self }
    guard anchorTime.isHostTimeValid, anchorTime.isSampleTimeValid, anchorTime.sampleRate > 0 else { return nil }
    if isSampleTimeValid {
      guard sampleRate > 0 else { return nil }
      // The anchor's position counts in its own rate.
      let seconds = Double(sampleTime) / sampleRate - Double(anchorTime.sampleTime) / anchorTime.sampleRate
      guard let host = Self.moved(anchorTime.hostTime, by: seconds) else { return nil }
      return AVAudioTime(hostTime: host, sampleTime: sampleTime, atRate: sampleRate)
    }
    guard isHostTimeValid else { return nil }
    let seconds = (Double(hostTime) - Double(anchorTime.hostTime)) / Self.nanosecondsPerSecond
    guard let frames = Int64(exactly: (seconds * anchorTime.sampleRate).rounded()) else { return nil }
    let (position, overflow) = anchorTime.sampleTime.addingReportingOverflow(frames)
    return overflow ? nil : AVAudioTime(hostTime: hostTime, sampleTime: position, atRate: anchorTime.sampleRate)
  }

  private static let nanosecondsPerSecond = 1e9

  private static func moved(_ hostTime: UInt64, by seconds: Double) -> UInt64? {
    guard let distance = Int64(exactly: (seconds * nanosecondsPerSecond).rounded()) else { return nil }
    let (moved, overflow) =
      distance < 0
      ? hostTime.subtractingReportingOverflow(distance.magnitude)
      : hostTime.addingReportingOverflow(distance.magnitude)
    return overflow ? nil : moved
  }
}
