import MediaEngine
import PortableMedia

/// One picture of a stream. Value lifetime: a frame that is kept stays valid, and nothing writes to it.
public struct VideoFrame: Sendable {
  /// Shared and for reading only. Its presentation time is the capture time on the host's monotonic clock
  /// (`CMClockGetHostTimeClock`), in nanoseconds, and increases strictly within a stream.
  ///
  /// `.raw`: an image buffer in `420v`. `.hvc1`: a block buffer with the NAL units of one picture, each after its length
  /// in 4 bytes (ISO/IEC 14496-15, 4.3.3), parameter sets in the format description, and the not-sync attachment. The
  /// first one after a gap is a sync sample and has the attachment `kCMSampleBufferAttachmentKey_ResetDecoderBeforeDecoding`.
  public var sampleBuffer: CMSampleBuffer { sample }

  /// True for a picture that needs no other to be decoded; always for `.raw`. (Glasswing's `isKeyframe`; the same name
  /// here would hide that in our own modules.)
  package let isSync: Bool
  /// True when something is missing between the frame before and this one: lost on the way, withheld, or dropped
  /// because the listener was slow. (Glasswing's `isDiscontinuity`.)
  package let followsGap: Bool

  private let sample: CMSampleBuffer

  package init(sampleBuffer: CMSampleBuffer, isSync: Bool, followsGap: Bool) {
    sample = sampleBuffer
    self.isSync = isSync
    self.followsGap = followsGap
    if followsGap, sampleBuffer.imageBuffer == nil {
      CMSetAttachment(
        sampleBuffer, key: kCMSampleBufferAttachmentKey_ResetDecoderBeforeDecoding, value: true,
        attachmentMode: kCMAttachmentMode_ShouldPropagate)
    }
  }

  /// The picture as an image, without a copy of its pixels; nil for compressed frames. Any thread.
  public func makeUIImage() -> sending UIImage? {
    CMSampleBufferGetImageBuffer(sample).map { UIImage(pixelBuffer: $0) }
  }

  /// For one listener, which missed what came before. A compressed sample is copied (its bytes are not), since other
  /// listeners have it without the mark.
  func markedAfterGap() -> VideoFrame {
    guard !followsGap else { return self }
    let copy = sample.imageBuffer == nil ? (try? CMSampleBuffer(copying: sample)) ?? sample : sample
    return VideoFrame(sampleBuffer: copy, isSync: isSync, followsGap: true)
  }
}
