import Units

/// The three planes of a picture being painted (4:2:0, 8 bit), clipped at its edges.
///
/// Valid only inside the access to the planes it was made from.
struct PatternCanvas {
  /// Limited range (ITU-R BT.709, 3.5) without its ends, which leaves compression room to ring.
  static let black: UInt8 = 24
  static let white: UInt8 = 228

  struct Plane {
    let base: UnsafeMutablePointer<UInt8>
    let stride: Int
    let width: Int
    let height: Int

    func fill(_ rectangle: PatternLayout.Rectangle, with value: UInt8) {
      let left = min(max(rectangle.x, 0), width)
      let right = min(max(rectangle.x + rectangle.width, left), width)
      let top = min(max(rectangle.y, 0), height)
      let bottom = min(max(rectangle.y + rectangle.height, top), height)
      guard right > left else { return }
      for row in top..<bottom {
        (base + row * stride + left).update(repeating: value, count: right - left)
      }
    }
  }

  let luma: Plane
  let cb: Plane
  let cr: Plane

  func fill(_ rectangle: PatternLayout.Rectangle, luma value: UInt8) { luma.fill(rectangle, with: value) }

  func fill(_ rectangle: PatternLayout.Rectangle, luma value: UInt8, cb cbValue: UInt8, cr crValue: UInt8) {
    luma.fill(rectangle, with: value)
    let half = PatternLayout.Rectangle(
      x: rectangle.x / 2, y: rectangle.y / 2, width: rectangle.width / 2, height: rectangle.height / 2)
    cb.fill(half, with: cbValue)
    cr.fill(half, with: crValue)
  }

  /// A glyph in white on black, stretched over the rectangle.
  func draw(_ glyph: [UInt8], in rectangle: PatternLayout.Rectangle) {
    luma.fill(rectangle, with: Self.black)
    for row in 0..<min(glyph.count, PatternGlyphs.height) {
      let top = rectangle.height * row / PatternGlyphs.height
      let bottom = rectangle.height * (row + 1) / PatternGlyphs.height
      for column in 0..<PatternGlyphs.width where glyph[row] >> UInt8(PatternGlyphs.width - 1 - column) & 1 == 1 {
        let left = rectangle.width * column / PatternGlyphs.width
        let right = rectangle.width * (column + 1) / PatternGlyphs.width
        luma.fill(
          PatternLayout.Rectangle(
            x: rectangle.x + left, y: rectangle.y + top, width: right - left, height: bottom - top),
          with: Self.white)
      }
    }
  }
}
