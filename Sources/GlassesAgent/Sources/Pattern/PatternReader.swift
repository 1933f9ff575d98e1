import PortableMedia
import Units

/// Reads the test pattern's mark back from a picture, also after compression, scaling and padding.
package enum PatternReader {
  /// What a picture says of itself.
  package struct Reading: Hashable, Sendable {
    package var mark: PatternMark
    /// The light that comes with each full second is on.
    package var isFlash: Bool
  }

  /// Darker than anything of the pattern, as padding is.
  private static let darkestPattern: UInt8 = 40

  /// - Parameter picture: with luma in its first plane (`420v`, `420f`, `y420`, `f420`), or `32BGRA`.
  /// - Returns: nil if the picture holds no pattern, or one that the checksum disproves.
  package static func read(_ picture: CVPixelBuffer) -> Reading? {
    guard let plane = picture.plane(0) else { return nil }
    let isPacked = picture.memoryPlaneCount == 1
    let bytes = UnsafeBufferPointer(
      start: plane.base.assumingMemoryBound(to: UInt8.self), count: plane.bytesPerRow * plane.height)
    let size = PixelSize(width: plane.width, height: plane.height)
    // The blocks are grey, so that green is as good as luma.
    return read(
      bytes, first: isPacked ? 1 : 0, bytesPerPixel: isPacked ? 4 : 1, bytesPerRow: plane.bytesPerRow, size: size)
  }

  /// The same from samples of luma, or of any one colour, row by row.
  ///
  /// - Parameters:
  ///   - first: where the first sample is: 1 for the green of RGBA.
  ///   - bytesPerPixel: from one sample to the next: 4 for RGBA.
  package static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, first: Int = 0, bytesPerPixel: Int = 1, bytesPerRow: Int, size: PixelSize
  ) -> Reading? {
    guard (18...16_384).contains(size.width), (18...16_384).contains(size.height), (1...16).contains(bytesPerPixel),
      (0..<bytesPerPixel).contains(first), (size.width * bytesPerPixel...1 << 20).contains(bytesPerRow),
      bytes.count >= bytesPerRow * (size.height - 1) + size.width * bytesPerPixel
    else { return nil }
    let samples = Samples(bytes: bytes, first: first, bytesPerPixel: bytesPerPixel, bytesPerRow: bytesPerRow)
    let whole = PatternLayout.Rectangle(x: 0, y: 0, width: size.width, height: size.height)
    if let reading = read(samples, in: whole) { return reading }
    let inner = samples.withoutBorders(whole, darkerThan: darkestPattern)
    return inner == whole ? nil : read(samples, in: inner)
  }

  private static func read(_ samples: Samples, in frame: PatternLayout.Rectangle) -> Reading? {
    guard frame.width >= 18, frame.height >= 18 else { return nil }
    let layout = PatternLayout(size: PixelSize(width: frame.width, height: frame.height))
    var levels: [Int] = []
    levels.reserveCapacity(PatternMark.columns * PatternMark.rows)
    for row in 0..<PatternMark.rows {
      for column in 0..<PatternMark.columns {
        levels.append(samples.mean(ofCentreOf: layout.block(column: column, row: row), in: frame))
      }
    }
    // The first row holds bright and dark in turn: the middle between their means tells them apart in the others.
    let reference = levels.prefix(PatternMark.columns)
    let bright = reference.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    let dark = reference.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    let middle = (bright.reduce(0, +) + dark.reduce(0, +)) / PatternMark.columns
    guard let mark = PatternMark(bits: levels.map { $0 > middle }) else { return nil }
    return Reading(mark: mark, isFlash: samples.mean(ofCentreOf: layout.flash, in: frame) > middle)
  }

  private struct Samples {
    let bytes: UnsafeBufferPointer<UInt8>
    let first: Int
    let bytesPerPixel: Int
    let bytesPerRow: Int

    /// Column and row are inside the picture.
    func sample(_ column: Int, _ row: Int) -> UInt8 { bytes[row * bytesPerRow + column * bytesPerPixel + first] }

    /// Over the middle half of the rectangle in each direction, away from what its neighbours bleed.
    func mean(ofCentreOf rectangle: PatternLayout.Rectangle, in frame: PatternLayout.Rectangle) -> Int {
      let left = max(frame.x + rectangle.x + rectangle.width / 4, 0)
      let top = max(frame.y + rectangle.y + rectangle.height / 4, 0)
      let right = min(left + max(rectangle.width / 2, 1), frame.x + frame.width)
      let bottom = min(top + max(rectangle.height / 2, 1), frame.y + frame.height)
      guard right > left, bottom > top else { return 0 }
      var sum = 0
      for row in top..<bottom {
        for column in left..<right { sum += Int(sample(column, row)) }
      }
      return sum / ((right - left) * (bottom - top))
    }

    func withoutBorders(_ frame: PatternLayout.Rectangle, darkerThan level: UInt8) -> PatternLayout.Rectangle {
      var (left, right, top, bottom) = (0, frame.width - 1, 0, frame.height - 1)
      func isDark(row: Int) -> Bool { (0..<frame.width).allSatisfy { sample($0, row) < level } }
      func isDark(column: Int) -> Bool { (0..<frame.height).allSatisfy { sample(column, $0) < level } }
      while top < bottom, isDark(row: top) { top += 1 }
      while bottom > top, isDark(row: bottom) { bottom -= 1 }
      while left < right, isDark(column: left) { left += 1 }
      while right > left, isDark(column: right) { right -= 1 }
      return PatternLayout.Rectangle(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
    }
  }
}
