import LinkProtocol
import Units

/// The pictures a second that glasses know.
package enum StreamFrameRate {
  package static let valid: [UInt8] = [2, 7, 15, 24, 30]

  /// The valid rate nearest to what was asked; of two equally near ones the higher, so that nothing asked for is lost.
  package static func nearest(to asked: UInt) -> UInt8 {
    var best: UInt8 = 30
    for rate in valid.reversed() where distance(rate, asked) < distance(best, asked) { best = rate }
    return best
  }

  private static func distance(_ rate: UInt8, _ asked: UInt) -> UInt {
    let rate = UInt(rate)
    return rate > asked ? rate - asked : asked - rate
  }
}

extension StreamConfiguration {
  /// What is asked of the glasses' encoder.
  package var videoParameters: VideoParameters {
    let size = resolution.videoFrameSize
    return VideoParameters(
      codec: .hevc, size: PixelSize(width: Int(size.width), height: Int(size.height)),
      frameRate: StreamFrameRate.nearest(to: frameRate))
  }
}
