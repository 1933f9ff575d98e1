import Units

/// The bit rates that streams begin with.
package enum VideoBitrate {
  /// For 30 pictures a second. At these the fastest preset keeps hard content (walking, foliage) free of blocks that a
  /// viewer would notice; chosen by looking, and by SSIM 0.9 at 504x896.
  package static let low = Bitrate.kilobitsPerSecond(800)
  package static let medium = Bitrate.kilobitsPerSecond(1500)
  package static let high = Bitrate.kilobitsPerSecond(3000)

  private static let table: [(pixels: Int, bitrate: Bitrate)] = [
    (360 * 640, low), (504 * 896, medium), (720 * 1280, high),
  ]
  private static let bounds = Bitrate.kilobitsPerSecond(100)...Bitrate.kilobitsPerSecond(12_000)
  /// What does not shrink with the frame rate: pictures further apart have less in common.
  private static let fixedPart = 0.3

  /// The bit rate for pictures of a size and rate; between the named sizes in proportion to the pixels.
  package static func `default`(for size: PixelSize, frameRate: Double) -> Bitrate {
    let pixels = max(size.width, 1).multipliedSaturating(by: max(size.height, 1))
    let nearest = table.min { abs($0.pixels - pixels) < abs($1.pixels - pixels) } ?? table[0]
    let rateFactor = fixedPart + (1 - fixedPart) * min(max(frameRate, 1), 60) / 30
    let wanted = Double(nearest.bitrate.bitsPerSecond) * Double(pixels) / Double(nearest.pixels) * rateFactor
    return min(max(.bitsPerSecond(Int64(saturating: wanted)), bounds.lowerBound), bounds.upperBound)
  }
}
