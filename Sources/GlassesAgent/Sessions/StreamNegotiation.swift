import LinkProtocol
import Units

/// What the glasses make of what an app asked for.
package enum StreamNegotiation {
  /// Pictures a second that the camera runs at.
  package static let frameRates: [UInt8] = [2, 7, 15, 24, 30]

  /// The sizes of the ladder: high, medium, low.
  package static let sizes = [
    PixelSize(width: 720, height: 1280), PixelSize(width: 504, height: 896), PixelSize(width: 360, height: 640),
  ]

  /// Nil when the glasses can't make the codec at all.
  package static func agree(on wanted: VideoParameters) -> VideoParameters? {
    guard wanted.codec == .hevc else { return nil }
    return VideoParameters(
      codec: .hevc, size: nearestSize(to: wanted.size), frameRate: nearestFrameRate(to: wanted.frameRate))
  }

  /// The lower one of two that are equally near: it asks less of the link.
  package static func nearestFrameRate(to wanted: UInt8) -> UInt8 {
    frameRates.min { distance($0, wanted) < distance($1, wanted) } ?? wanted
  }

  private static func nearestSize(to wanted: PixelSize) -> PixelSize {
    guard !sizes.contains(wanted) else { return wanted }
    let area = max(0, wanted.width).multipliedSaturating(by: max(0, wanted.height))
    return sizes.min { area.distanceSaturating(to: $0) < area.distanceSaturating(to: $1) } ?? wanted
  }

  private static func distance(_ a: UInt8, _ b: UInt8) -> UInt8 { a > b ? a - b : b - a }
}

extension Int {
  fileprivate func distanceSaturating(to size: PixelSize) -> UInt {
    subtractingSaturating(size.width * size.height).magnitude
  }
}
