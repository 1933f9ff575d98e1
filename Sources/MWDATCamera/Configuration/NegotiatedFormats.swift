import LinkProtocol
import Units

extension StreamConfiguration {
  /// What is asked of the glasses' encoder.
  package var videoParameters: VideoParameters {
    let size = resolution.videoFrameSize
    return VideoParameters(
      codec: .hevc, size: PixelSize(width: Int(size.width), height: Int(size.height)),
      frameRate: GlassesFrameRate.nearest(to: frameRate))
  }
}
