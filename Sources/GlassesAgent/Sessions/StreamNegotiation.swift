import LinkProtocol
import Units

/// What the glasses make of what an app asked for.
package enum StreamNegotiation {
  /// The sizes of the ladder: high, medium, low.
  package static let sizes = [
    PixelSize(width: 720, height: 1280), PixelSize(width: 504, height: 896), PixelSize(width: 360, height: 640),
  ]

  /// Nil when the glasses can't make the codec at all.
  package static func agree(on wanted: VideoParameters) -> VideoParameters? {
    guard wanted.codec == .hevc else { return nil }
    return VideoParameters(
      codec: .hevc, size: nearestSize(to: wanted.size), frameRate: GlassesFrameRate.nearest(to: wanted.frameRate))
  }

  /// Samples a second that the microphone gives.
  package static let sampleRates: [UInt32] = [16_000, 44_100, 48_000]

  /// Sound is asked for in the form that listeners get. Nil when the glasses don't have it.
  package static func agree(on wanted: AudioParameters) -> AudioParameters? {
    guard wanted.codec == .pcmFloat32, sampleRates.contains(wanted.sampleRate), 1...2 ~= wanted.channels else {
      return nil
    }
    return wanted
  }

  private static func nearestSize(to wanted: PixelSize) -> PixelSize {
    guard !sizes.contains(wanted) else { return wanted }
    let area = max(0, wanted.width).multipliedSaturating(by: max(0, wanted.height))
    return sizes.min { area.distanceSaturating(to: $0) < area.distanceSaturating(to: $1) } ?? wanted
  }
}

extension Int {
  fileprivate func distanceSaturating(to size: PixelSize) -> UInt {
    subtractingSaturating(size.width * size.height).magnitude
  }
}
