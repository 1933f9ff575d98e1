import MWDATCamera

extension AudioFrame {
  /// True when something is missing between the frame before and this one, or its time doesn't follow from that one:
  /// lost on the way, left out by the glasses, dropped because the listener was slow, or not captured because the session
  /// was paused.
  public var isDiscontinuity: Bool { followsGap }

  /// Samples of each channel that are missing between the frame before and this one; 0 for a listener's first frame. The
  /// presentation time is that of the frame before, plus its length, plus these.
  public var missingSamples: Int { missingBefore }

  /// True for silence that `Stream.continuousAudioPublisher` puts in the place of what is missing.
  public var isFilled: Bool { isSubstitute }
}
