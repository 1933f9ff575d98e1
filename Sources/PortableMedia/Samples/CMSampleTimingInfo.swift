/// When a sample is shown, decoded, and for how long.
public struct CMSampleTimingInfo: Hashable, Sendable {
  /// How long it is shown.
  public var duration: CMTime
  /// When it is shown.
  public var presentationTimeStamp: CMTime
  /// When it is decoded; invalid if samples are decoded in the order in which they are shown.
  public var decodeTimeStamp: CMTime

  /// A timing from its fields.
  public init(duration: CMTime, presentationTimeStamp: CMTime, decodeTimeStamp: CMTime) {
    self.duration = duration
    self.presentationTimeStamp = presentationTimeStamp
    self.decodeTimeStamp = decodeTimeStamp
  }

  /// A timing of invalid times.
  public init() { self.init(duration: .invalid, presentationTimeStamp: .invalid, decodeTimeStamp: .invalid) }

  /// A timing of invalid times.
  public static let invalid = CMSampleTimingInfo()
}

/// A timing of invalid times, by its C name.
public let kCMTimingInfoInvalid = CMSampleTimingInfo.invalid
