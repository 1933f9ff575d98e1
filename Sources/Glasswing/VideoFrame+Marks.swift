import MWDATCamera

extension VideoFrame {
  /// True when something is missing between the frame before and this one: lost on the way, withheld because it depended on
  /// something lost, or dropped because the listener was slow. Such a compressed frame is a keyframe, and its sample
  /// buffer has the attachment `kCMSampleBufferAttachmentKey_ResetDecoderBeforeDecoding`. The first frame after a pause
  /// counts too.
  public var isDiscontinuity: Bool { followsGap }

  /// True for a picture that decodes alone: always for decoded frames.
  public var isKeyframe: Bool { isSync }
}
