import MediaEngine
import PortableMedia

/// One picture of a stream. Value lifetime: a frame that is kept stays valid, and nothing writes to it.
public struct VideoFrame: Sendable {
  /// Shared and for reading only. Its presentation time is the capture time on the host's monotonic clock
  /// (`CMClockGetHostTimeClock`), in nanoseconds, and increases strictly within a stream.
  ///
  /// `.raw`: an image buffer in `420v`. `.hvc1`: a block buffer with the NAL units of one picture, each after its length
  /// in 4 bytes (ISO/IEC 14496-15, 4.3.3), parameter sets in the format description, and the not-sync attachment.
  public var sampleBuffer: CMSampleBuffer { sample }

  /// True for a picture that needs no other to be decoded; always for `.raw`.
  package let isSync: Bool
  /// True when something is missing between the frame before and this one: lost on the way, or withheld.
  package private(set) var isDiscontinuity: Bool

  private let sample: CMSampleBuffer

  package init(sampleBuffer: CMSampleBuffer, isSync: Bool, isDiscontinuity: Bool) {
    sample = sampleBuffer
    self.isSync = isSync
    self.isDiscontinuity = isDiscontinuity
  }

  /// The picture as an image, without a copy of its pixels; nil for compressed frames. Any thread.
  public func makeUIImage() -> sending UIImage? {
    CMSampleBufferGetImageBuffer(sample).map { UIImage(pixelBuffer: $0) }
  }

  func markedAsDiscontinuity() -> VideoFrame {
    var frame = self
    frame.isDiscontinuity = true
    return frame
  }
}
