import Units

/// Raw pictures one after the other: I420, so Y in full size, then U and V in half the width and height.
package struct RawFormat: Hashable, Sendable {
  package static let longestSide = 8192
  package static let highestRate: Double = 240

  package let size: PixelSize
  package let frameRate: Double

  /// Nil for sides that are odd, none or too long, and rates that are none or too high.
  package init?(size: PixelSize, frameRate: Double) {
    guard 2...Self.longestSide ~= size.width, 2...Self.longestSide ~= size.height, size.width % 2 == 0,
      size.height % 2 == 0, frameRate > 0, frameRate <= Self.highestRate
    else { return nil }
    self.size = size
    self.frameRate = frameRate
  }

  package var byteCount: Int { size.width * size.height / 2 * 3 }
}
